import { CsvError, parse } from "csv-parse/sync";
import { type DltList, type Layout, readHead } from "../../../core/dlt/dlt-columns.ts";

export interface DltSheet {
  readonly layout: Layout;
  readonly rows: readonly SheetRow[];
}

export interface SheetRow {
  /** Where it begins, from 1. */
  readonly line: number;
  readonly cells: readonly string[];
}

/** Exports begin with a title, a date, a blank line. */
const MAX_PREAMBLE = 20;

/** Reads a DLT portal's export; what is wrong with the whole of it is a sentence. */
export function readDltCsv(csv: string, wanted?: DltList): DltSheet | { readonly problem: string } {
  if (csv.startsWith("PK\u0003\u0004")) return { problem: "is an Excel workbook: save it as CSV (UTF-8)" };
  const text = csv.replace(/^\uFEFF/, "").replace(/\r\n?/g, "\n");
  const rows = readRows(text, delimiterOf(text, wanted));
  if ("problem" in rows) return rows;
  for (const [index, { cells }] of rows.slice(0, MAX_PREAMBLE).entries()) {
    const layout = readHead(cells, wanted);
    if (layout) return { layout, rows: rows.slice(index + 1).filter(isFilled) };
  }
  return { problem: NO_HEAD[wanted ?? "any"] };
}

const NO_HEAD: Readonly<Record<DltList | "any", string>> = {
  any: "has no row that names its columns as a list of templates, headers or entities does",
  templates: "has no row that names columns for template id and content",
  headers: "has no row that names a column for the header",
  entities: "has no row that names a column for the entity id",
};

function isFilled({ cells }: SheetRow): boolean {
  return cells.some((cell) => cell.trim() !== "");
}

function readRows(text: string, delimiter: string): readonly SheetRow[] | { readonly problem: string } {
  try {
    const records = parse(text, {
      delimiter,
      info: true,
      relax_column_count: true,
      relax_quotes: true,
      skip_empty_lines: true,
    }) as unknown as readonly Parsed[];
    return records.map(({ record, info }) => ({
      line: info.lines - breaksIn(record),
      cells: record.map(tidy),
    }));
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    return {
      problem: `cannot be read as CSV: ${error.message.charAt(0).toLowerCase()}${error.message.slice(1)}`,
    };
  }
}

interface Parsed {
  readonly record: readonly string[];
  /** `lines`: the one the record ends on. */
  readonly info: { readonly lines: number };
}

function breaksIn(record: readonly string[]): number {
  return record.reduce((count, cell) => count + cell.split("\n").length - 1, 0);
}

/** Quotes inside a quoted cell that nobody doubled leave the outer ones standing. */
function tidy(cell: string): string {
  return /^"[\s\S]+"$/.test(cell) ? cell.slice(1, -1) : cell;
}

/** The one that makes most columns of the row that names them. */
function delimiterOf(text: string, wanted: DltList | undefined): string {
  const head = text.split("\n", MAX_PREAMBLE);
  const width = (delimiter: string) => {
    const rows = head.map((line) => line.split(delimiter).map(tidy));
    return rows.find((cells) => readHead(cells, wanted))?.length ?? 0;
  };
  return [",", ";", "\t", "|"].reduce((best, each) => (width(each) > width(best) ? each : best));
}
