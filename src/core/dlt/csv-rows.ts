/** Rows of CSV (RFC 4180), as spreadsheets and web pages write it: rows of uneven length, and quotes that are not doubled. */

export interface CsvRow {
  /** The line on which the row begins, from 1. */
  readonly line: number;
  readonly cells: readonly string[];
}

/**
 * The rows of `text`, whose lines end in LF, without empty lines. They are yielded one by one, so that the
 * caller can let other work go on in between. Ends with a `problem` if a quote is not closed. Takes linear time for any text.
 */
export function* csvRows(text: string, delimiter: string): Generator<CsvRow | { readonly problem: string }> {
  const readCell = cellReader(text, delimiter);
  let line = 1;
  let at = 0;
  while (at < text.length) {
    const row: CsvRow & { readonly cells: string[] } = { line, cells: [] };
    const isEmpty = text[at] === "\n";
    for (let isOpen = !isEmpty; isOpen; at++) {
      const read = readCell(at);
      if (!read) return yield { problem: `the quote that opens on line ${line} is not closed` };
      row.cells.push(read.cell);
      line += read.breaks;
      at = read.end;
      isOpen = at < text.length && text[at] !== "\n";
    }
    if (isEmpty) at++;
    else yield row;
    line++;
  }
}

interface Cell {
  readonly cell: string;
  /** Where the delimiter or the line break after it is, or the end of the text. */
  readonly end: number;
  /** Line breaks within. */
  readonly breaks: number;
}

/** Reads the cell that begins at an index, which never goes back; `undefined` if its quote is not closed. */
function cellReader(text: string, delimiter: string): (at: number) => Cell | undefined {
  const nextBreak = finder(text, "\n");
  const nextDelimiter = finder(text, delimiter);
  const plainEnd = (from: number) => Math.min(nextBreak(from), nextDelimiter(from));

  return (at) => {
    if (text[at] !== '"') {
      const end = plainEnd(at);
      return { cell: text.slice(at, end), end, breaks: 0 };
    }
    const quote = closingQuote(text, at + 1);
    if (quote === undefined) return undefined;
    const content = text.slice(at + 1, quote);
    const cell = content.replaceAll('""', '"');
    const breaks = content.split("\n").length - 1;
    const after = quote + 1;
    const end = plainEnd(after);
    // Text after the quote: then none of the cell's quotes has a meaning.
    return end === after ? { cell, end, breaks } : { cell: `"${cell}${text.slice(quote, end)}`, end, breaks };
  };
}

/** The first quote from an index on that is not doubled. */
function closingQuote(text: string, from: number): number | undefined {
  for (let at = text.indexOf('"', from); at !== -1; at = text.indexOf('"', at + 2)) {
    if (text[at + 1] !== '"') return at;
  }
  return undefined;
}

/** Makes a function that finds `wanted` from an index on, or else the end. The index must never go back: each hit is remembered. */
function finder(text: string, wanted: string): (from: number) => number {
  let found = -1;
  return (from) => {
    if (found < from) found = text.indexOf(wanted, from);
    if (found === -1) found = text.length;
    return found;
  };
}
