/** Reads the CSV files that DLT portals export. */
import { CsvError, parse } from "csv-parse/sync";
import { type DltList, type Layout, readHead } from "../../../core/dlt/dlt-columns.ts";

export interface DltSheet {
  readonly layout: Layout;
  readonly rows: readonly SheetRow[];
}

export interface SheetRow {
  /** The line on which the row begins, from 1. */
  readonly line: number;
  readonly cells: readonly string[];
}

/** Lines before the header row: a title, a date, a blank line. */
const MAX_PREAMBLE = 20;

/** Reads a DLT portal's CSV export. `wanted`: the list that it must be; absent: the columns tell. */
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
      cells: record.map(withoutOuterQuotes),
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
  /** `lines`: the line on which the record ends. */
  readonly info: { readonly lines: number };
}

function breaksIn(record: readonly string[]): number {
  return record.reduce((count, cell) => count + cell.split("\n").length - 1, 0);
}

/** A quoted cell whose inner quotes are not doubled keeps its outer quotes when it is parsed. */
function withoutOuterQuotes(cell: string): string {
  return /^"[\s\S]+"$/.test(cell) ? cell.slice(1, -1) : cell;
}

/** The delimiter that splits the header row into the most columns. */
function delimiterOf(text: string, wanted: DltList | undefined): string {
  const lines = text.split("\n", MAX_PREAMBLE);
  const columnsBy = (delimiter: string): number => {
    const rows = lines.map((line) => line.split(delimiter).map(withoutOuterQuotes));
    return rows.find((cells) => readHead(cells, wanted))?.length ?? 0;
  };
  return [",", ";", "\t", "|"].reduce((best, each) => (columnsBy(each) > columnsBy(best) ? each : best));
}
