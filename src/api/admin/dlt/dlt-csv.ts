/** Reads the CSV files that DLT portals export. */
import { setImmediate } from "node:timers/promises";
import { type CsvRow, csvRows } from "../../../core/dlt/csv-rows.ts";
import { type DltList, type Layout, MAX_COLUMNS, readHead } from "../../../core/dlt/dlt-columns.ts";

export interface DltSheet {
  readonly layout: Layout;
  readonly rows: readonly CsvRow[];
}

/** Some programs write the table of a web page where they promise a spreadsheet (`.xls`). */
const WEB_PAGE = /^\uFEFF?\s*<(?:!doctype|html|table|meta|style)\b/i;

/** The most lines before the header row: a title, a date, a blank line. */
const MAX_PREAMBLE = 20;

/**
 * Reads a DLT portal's CSV export. `wanted`: the list that it must be; absent: the columns tell. Other work goes on
 * meanwhile: a list has up to 8 MiB.
 */
export async function readDltCsv(
  csv: string,
  wanted?: DltList,
): Promise<DltSheet | { readonly problem: string }> {
  if (csv.startsWith("PK\u0003\u0004")) return { problem: "is an Excel workbook: save it as CSV (UTF-8)" };
  if (WEB_PAGE.test(csv))
    return { problem: "is a web page: open it in a spreadsheet and save it as CSV (UTF-8)" };
  const text = csv.replace(/^\uFEFF/, "").replace(/\r\n?/g, "\n");
  const rows = await readRows(text, delimiterOf(text, wanted));
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

function isFilled({ cells }: CsvRow): boolean {
  return cells.some((cell) => cell.trim() !== "");
}

/** Rows that are read before other work has its turn. */
const ROWS_PER_TURN = 2_000;

async function readRows(
  text: string,
  delimiter: string,
): Promise<readonly CsvRow[] | { readonly problem: string }> {
  const rows: CsvRow[] = [];
  for (const row of csvRows(text, delimiter)) {
    if ("problem" in row) return { problem: `cannot be read as CSV: ${row.problem}` };
    if (rows.push({ line: row.line, cells: row.cells.map(withoutOuterQuotes) }) % ROWS_PER_TURN === 0)
      await setImmediate();
  }
  return rows;
}

/** A quoted cell whose inner quotes are not doubled keeps its outer quotes when it is parsed. */
function withoutOuterQuotes(cell: string): string {
  return /^"[\s\S]+"$/.test(cell) ? cell.slice(1, -1) : cell;
}

/** The delimiter that splits the header row into the most columns. */
function delimiterOf(text: string, wanted: DltList | undefined): string {
  const lines = text.split("\n", MAX_PREAMBLE);
  const columnsBy = (delimiter: string): number => {
    const rows = lines.map((line) => line.split(delimiter, MAX_COLUMNS).map(withoutOuterQuotes));
    return rows.find((cells) => readHead(cells, wanted))?.length ?? 0;
  };
  return [",", ";", "\t", "|"].reduce((best, each) => (columnsBy(each) > columnsBy(best) ? each : best));
}
