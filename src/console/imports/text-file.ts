/** Files as spreadsheets and portals write them. Pure. */
export type TextRead = { readonly text: string } | { readonly problem: string };

/**
 * UTF-8, or the UTF-16 that spreadsheets save as "Unicode text"; lines end with a line feed. Text in another encoding is
 * refused: it would be read with other characters, and in a list of addresses these would be other people.
 */
export function decodeText(octets: Uint8Array): TextRead {
  const encoding = octets[0] === 0xff && octets[1] === 0xfe ? "utf-16le" : "utf-8";
  try {
    const text = new TextDecoder(encoding, { fatal: true }).decode(octets);
    return text.startsWith("PK\u0003\u0004") ? { problem: WORKBOOK } : { text: text.replace(/\r\n?/g, "\n") };
  } catch {
    const isWorkbook = octets[0] === 0x50 && octets[1] === 0x4b;
    return { problem: isWorkbook ? WORKBOOK : "is not UTF-8: save it as CSV (UTF-8)" };
  }
}

const WORKBOOK = "is an Excel workbook: save it as CSV (UTF-8)";

export interface CsvRow {
  /** Where it begins, from 1. */
  readonly line: number;
  readonly cells: readonly string[];
}

/** The rows of a CSV file (RFC 4180) that are not empty, without blanks around values. */
export function readCsv(text: string, delimiter: string): readonly CsvRow[] | { readonly problem: string } {
  const end = `[^${delimiter}\\n]*`;
  const cell = new RegExp(` *"([^"]*(?:""[^"]*)*)"${end}|(${end})`, "y");
  const rows: CsvRow[] = [];
  let line = 1;
  let at = 0;
  while (at < text.length) {
    const row = { line, cells: [] as string[] };
    let isMore = true;
    while (isMore) {
      cell.lastIndex = at;
      const [whole = "", quoted, plain = ""] = cell.exec(text) ?? [];
      if (plain.trimStart().startsWith('"'))
        return { problem: `has a quote on line ${line} that is not closed` };
      row.cells.push((quoted?.replaceAll('""', '"') ?? plain).trim());
      line += quoted === undefined ? 0 : whole.split("\n").length - 1;
      at += whole.length + 1;
      isMore = text[at - 1] === delimiter;
    }
    line++;
    if (row.cells.some((each) => each !== "")) rows.push(row);
  }
  return rows;
}

/** More than any value has. */
const MOST_LINES_OF_A_ROW = 20;

/** A row as it is in the file: with the following lines, as long as a quote is open. */
export function rowText(lines: readonly string[], line: number): string {
  let row = lines[line - 1] ?? "";
  for (let next = line; isOpen(row) && next < lines.length && next < line + MOST_LINES_OF_A_ROW; next++)
    row += `\n${lines[next]}`;
  return row;
}

function isOpen(row: string): boolean {
  return (row.split('"').length - 1) % 2 === 1;
}
