/** Splits a DLT portal's export into pieces that fit into a request. */
import { type DltSheet, readDltCsv } from "../../api/admin/dlt/dlt-csv.ts";
import type { DltList } from "../../core/dlt/dlt-columns.ts";
import { readDltRow } from "../../core/dlt/dlt-rows.ts";

interface DltPieces {
  /** How many ids all pieces have together. */
  readonly ids: number;
  readonly pieces: Iterable<DltPiece>;
}

interface DltPiece {
  /** Its rows are on the same lines as in the whole export. */
  readonly csv: string;
  readonly ids: number;
}

/** The most ids in a piece: as many as one request deals with. */
const MAX_IDS = 500;
/** A piece ends once it has this many characters. */
const MAX_LENGTH = 256 * 1024;

/** An export of this length or more is worth splitting: the service reads the whole text with each request. */
export const LONG = MAX_LENGTH;

/** Splits an export. All rows of an id are in one piece, since the service joins or compares them. */
export async function splitDltCsv(
  csv: string,
  wanted?: DltList,
): Promise<DltPieces | { readonly problem: string }> {
  const sheet = await readDltCsv(csv, wanted);
  if ("problem" in sheet) return sheet;
  const lines = csv
    .replace(/^\uFEFF/, "")
    .replace(/\r\n?/g, "\n")
    .split("\n");
  const spans = spansOf(sheet, lines.length);
  const groups = groupById(sheet, spans);
  return { ids: groups.length, pieces: piecesOf(groups, { lines, head: spans[0]?.from ?? lines.length }) };
}

/** The lines of a row, from 0, and those up to the next row; `to` is exclusive. */
interface Span {
  readonly from: number;
  readonly to: number;
}

function spansOf({ rows }: DltSheet, lines: number): readonly Span[] {
  return rows.map(({ line }, index) => ({ from: line - 1, to: (rows[index + 1]?.line ?? lines + 1) - 1 }));
}

/** A row that cannot be read is a group of its own: the service says why. */
function groupById({ layout, rows }: DltSheet, spans: readonly Span[]): readonly (readonly Span[])[] {
  const groups = new Map<string, Span[]>();
  for (const [index, { cells }] of rows.entries()) {
    const span = spans[index];
    if (!span) continue;
    // By the rules of a sandbox account: a live one accepts no other rows.
    const reading = readDltRow(layout.list, layout, { cells, mode: "sandbox" });
    const id = "reason" in reading ? `line ${span.from}` : `id ${reading.key}`;
    const group = groups.get(id);
    if (group) group.push(span);
    else groups.set(id, [span]);
  }
  return [...groups.values()];
}

interface Whole {
  readonly lines: readonly string[];
  /** How many lines come before the first row. */
  readonly head: number;
}

function* piecesOf(groups: readonly (readonly Span[])[], whole: Whole): Generator<DltPiece> {
  let spans: Span[] = [];
  let ids = 0;
  let length = 0;
  for (const [index, group] of groups.entries()) {
    ids++;
    for (const span of group) {
      spans.push(span);
      length += lengthOf(span, whole);
    }
    if (ids < MAX_IDS && length < MAX_LENGTH && index < groups.length - 1) continue;
    yield { csv: textOf(spans, whole), ids };
    spans = [];
    ids = 0;
    length = 0;
  }
}

function lengthOf({ from, to }: Span, { lines }: Whole): number {
  return lines.slice(from, to).reduce((sum, line) => sum + line.length, 0);
}

/** The text of a piece. Empty lines stand for the rows of other pieces, so that line numbers in reports are those of the file. */
function textOf(spans: readonly Span[], { lines, head }: Whole): string {
  const texts = lines.slice(0, head);
  for (const { from, to } of spans.toSorted((one, other) => one.from - other.from)) {
    while (texts.length < from) texts.push("");
    for (const line of lines.slice(from, to)) texts.push(line);
  }
  return `${texts.join("\n")}\n`;
}
