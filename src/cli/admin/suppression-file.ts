/** Suppressions as files: CSV and JSON lines, as `import` reads and `export` writes them. */
import { CsvError, parse } from "csv-parse/sync";
import { UsageFailure } from "../commands/command-failure.ts";
import { readTextFile } from "../commands/input-file.ts";
import { toJson } from "../commands/table.ts";
import type { Row } from "./command-line.ts";

const FIELDS = ["email", "reason", "source", "expires_at", "created_at"] as const;

export interface FileEntry {
  readonly line: number;
  /** In the form that an import takes. */
  readonly fields: Row;
}

export async function readEntries(path: string): Promise<readonly FileEntry[]> {
  const text = await readTextFile(path);
  if (text.trimStart().startsWith("["))
    throw new UsageFailure(`"${path}" is a JSON array: write JSON lines, an object each`);
  const isJson = text.trimStart().startsWith("{");
  try {
    return isJson ? fromJsonLines(text) : fromCsv(text);
  } catch (error) {
    if (error instanceof CsvError || error instanceof SyntaxError) {
      throw new UsageFailure(`${path} cannot be read: ${error.message}`);
    }
    throw error;
  }
}

function fromJsonLines(text: string): readonly FileEntry[] {
  return text
    .split("\n")
    .map((each, index) => ({ each, line: index + 1 }))
    .filter(({ each }) => each.trim() !== "")
    .map(({ each, line }) => ({ line, fields: toEntry(readLine(each, line)) }));
}

function readLine(text: string, line: number): Row {
  try {
    return { ...JSON.parse(text) };
  } catch (error) {
    throw new SyntaxError(`line ${line}: ${(error as Error).message}`);
  }
}

/** A file whose first row does not name a column `email` is a list of addresses. */
function fromCsv(text: string): readonly FileEntry[] {
  const entries: FileEntry[] = [];
  let names: readonly string[] | undefined;
  const take = (record: readonly string[], line: number) => {
    const head = names ? [] : record.map((name) => name.toLowerCase());
    names ??= head.includes("email") ? head : ["email"];
    if (names === head) return;
    const given = names.map((name, index) => [name, plain(record[index] ?? "")]);
    entries.push({ line, fields: toEntry(Object.fromEntries(given)) });
  };
  parse(text, {
    delimiter: delimiterOf(text),
    trim: true,
    skip_empty_lines: true,
    relax_column_count: true,
    // `null`, so that the parser keeps no row: with its notes on each, a million would take more than a gigabyte.
    on_record(record, { lines }) {
      take(record, lines);
      return null;
    },
  });
  return entries;
}

/** The character that separates `email` from its neighbours in the first row: in some languages spreadsheets write semicolons. */
function delimiterOf(text: string): string {
  const [head = ""] = text.trimStart().split(/[\r\n]/, 1);
  const isName = (cell: string) => /^\s*"?email"?\s*$/i.test(cell);
  return [",", ";", "\t"].find((each) => head.split(each).some(isName)) ?? ",";
}

/** The first line of a CSV file. */
export const CSV_HEAD = FIELDS.join(",");

export function csvLine(row: Row): string {
  return FIELDS.map((name) => csvCell(String(row[name] ?? ""))).join(",");
}

export function jsonLine(row: Row): string {
  return toJson(
    Object.fromEntries(FIELDS.filter((name) => row[name] !== undefined).map((name) => [name, row[name]])),
  );
}

/** The fields that an import takes, without empty ones, and without the `created_at` of an export. */
function toEntry(fields: Row): Row {
  const taken = FIELDS.filter((name) => name !== "created_at" && (fields[name] ?? "") !== "");
  return { email: "", ...Object.fromEntries(taken.map((name) => [name, String(fields[name])])) };
}

/**
 * Quotes a cell if need be (RFC 4180). Puts a `'` before a text that a spreadsheet would take for a formula, and before one whose own
 * `'` would otherwise be removed by `plain`.
 */
function csvCell(text: string): string {
  const safe = /^'*[=+\-@\t]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/** Undoes the `'` of `csvCell`. */
function plain(cell: string): string {
  return cell.replace(/^'(?='*[=+\-@\t])/, "");
}
