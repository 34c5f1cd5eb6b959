/** Lists of suppressions as files: CSV, JSON lines, or one address on each line. Pure. */
import { type CsvRow, readCsv } from "./text-file.ts";

export interface FileEntry {
  readonly line: number;
  /** As an import takes them. */
  readonly fields: Readonly<Record<string, string>>;
}

export type EntriesRead =
  | { readonly entries: readonly FileEntry[]; readonly ignored: readonly string[] }
  | { readonly problem: string };

const FIELDS = ["email", "reason", "source", "expires_at"];

/** What an export has, and no import takes. */
const EXPORTED = [...FIELDS, "created_at"];

export function readEntries(text: string): EntriesRead {
  const start = text.trimStart().charAt(0);
  if (start === "[") return { problem: "is a JSON array: write JSON lines, an object each" };
  const read = start === "{" ? readJsonLines(text) : readTable(text);
  if ("entries" in read && read.entries.length === 0) return { problem: "holds no entries" };
  return read;
}

function readJsonLines(text: string): EntriesRead {
  const entries: FileEntry[] = [];
  const names = new Set<string>();
  for (const [index, each] of text.split("\n").entries()) {
    if (each.trim() === "") continue;
    const line = index + 1;
    const fields = parseObject(each);
    if (!fields) return { problem: `is no JSON object on line ${line}` };
    for (const name of Object.keys(fields)) names.add(name);
    entries.push({ line, fields: toEntry(Object.entries(fields)) });
  }
  return { entries, ignored: ignoredIn([...names]) };
}

function parseObject(text: string): Record<string, unknown> | undefined {
  try {
    return { ...JSON.parse(text) };
  } catch {
    return undefined;
  }
}

/** A file whose first row names no column `email` is a list of addresses. */
function readTable(text: string): EntriesRead {
  const rows = readCsv(text, delimiterOf(text));
  if ("problem" in rows) return rows;
  const head = rows[0]?.cells.map((name) => name.toLowerCase()) ?? [];
  const hasHead = head.includes("email");
  const names = hasHead ? head : ["email"];
  const entries = (hasHead ? rows.slice(1) : rows).map((row) => ({
    line: row.line,
    fields: toEntry(namedCells(row, names)),
  }));
  return { entries, ignored: ignoredIn(names) };
}

function namedCells({ cells }: CsvRow, names: readonly string[]): readonly (readonly [string, string])[] {
  return names.map((name, index) => [name, withoutMark(cells[index] ?? "")]);
}

/** What separates `email` from its neighbours in the first row: in some languages spreadsheets write semicolons. */
function delimiterOf(text: string): string {
  const [head = ""] = text.trimStart().split("\n", 1);
  const isName = (cell: string) => /^\s*"?email"?\s*$/i.test(cell);
  return [",", ";", "\t"].find((each) => head.split(each).some(isName)) ?? ",";
}

/** Without empty fields, but always with an address: the service says that it is missing. */
function toEntry(cells: readonly (readonly [string, unknown])[]): FileEntry["fields"] {
  const given = cells.filter(([name, value]) => FIELDS.includes(name) && (value ?? "") !== "");
  return { email: "", ...Object.fromEntries(given.map(([name, value]) => [name, String(value)])) };
}

function ignoredIn(names: readonly string[]): readonly string[] {
  return names.filter((name) => name !== "" && !EXPORTED.includes(name));
}

/** An export puts a `'` before what a spreadsheet would take for a formula. */
function withoutMark(cell: string): string {
  return cell.replace(/^'(?='*[=+\-@\t])/, "");
}

/** As many as a request takes. */
const MOST_ENTRIES = 1_000;

/** UTF-16 units of up to three octets: less than a request may have. */
const MOST_LENGTH = 300_000;

/** The entries, in the pieces in which they are sent. */
export function chunksOf(entries: readonly FileEntry[]): readonly (readonly FileEntry[])[] {
  const chunks: FileEntry[][] = [];
  let length = MOST_LENGTH;
  for (const entry of entries) {
    const added = JSON.stringify(entry.fields).length;
    const last = chunks.at(-1);
    if (last && last.length < MOST_ENTRIES && length + added <= MOST_LENGTH) {
      last.push(entry);
      length += added;
    } else {
      chunks.push([entry]);
      length = added;
    }
  }
  return chunks;
}
