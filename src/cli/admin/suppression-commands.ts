/** `suppressions import`, `export` and `release`. */
import { type Command, Option } from "commander";
import { CsvError, parse } from "csv-parse/sync";
import { AdminFailure } from "./admin-client.ts";
import { addVerb, type CommandLine, type Row, type Run, UsageFailure } from "./command-line.ts";
import { readTextFile } from "./input-file.ts";
import { toCell, toJson } from "./table.ts";

const FIELDS = ["email", "reason", "source", "expires_at", "created_at"] as const;

/** Entries per request. */
const CHUNK = 1_000;

/** Entries after which the next line of progress is printed: a fraction of a second. */
const PROGRESS = 10_000;

export function addSuppressionCommands(noun: Command, commandLine: CommandLine): void {
  const verb = (usage: string, summary: string, work: (run: Run) => Promise<void>) =>
    addVerb(noun, commandLine, {
      usage,
      summary,
      work,
    }).requiredOption("--account <id>", "the account");
  verb("import", "add the addresses of a CSV or JSON lines file", (run) =>
    importAll(run, stderr),
  ).requiredOption(
    "--file <path>",
    "CSV or JSON lines with `email` and, if you like, reason, source and expires_at",
  );
  const { stdout, stderr } = commandLine.terminal;
  verb("export", "print the list, as CSV or JSON lines", (run) => exportAll(run, stdout)).addOption(
    new Option("--format <format>", "how to print it").choices(["csv", "jsonl"]).default("csv"),
  );
  verb("release", "allow email to an address again", release).requiredOption(
    "--email <address>",
    "who may be written to again",
  );
}

interface Report {
  readonly added: number;
  readonly kept: number;
  readonly refused: readonly { readonly line: number; readonly reason: string }[];
}

interface ImportedPart {
  readonly added: number;
  readonly kept: number;
  readonly refused: readonly { readonly index: number; readonly reason: string }[];
}

async function importAll(run: Run, progress: (text: string) => void): Promise<void> {
  const { client, options, print, fail } = run;
  const entries = await readEntries(String(options.file));
  if (entries.length === 0) {
    // Fails if there is no such account.
    await client.request("GET", "suppressions", {
      query: { account_id: String(options.account), limit: "1" },
    });
    print(NOTHING, () => `nothing was imported: "${options.file}" holds no entries\n`);
    return;
  }
  const sum = await importEntries(run, entries, progress);
  print(sum, reportText);
  if (sum.refused.length > 0) fail();
}

const NOTHING: Report = { added: 0, kept: 0, refused: [] };

async function importEntries(
  { client, options }: Run,
  entries: readonly FileEntry[],
  progress: (text: string) => void,
): Promise<Report> {
  let sum = NOTHING;
  for (let at = 0; at < entries.length; at += CHUNK) {
    const chunk = entries.slice(at, at + CHUNK);
    const body = { account_id: options.account, entries: chunk.map(({ fields }) => fields) };
    const part = (await client.request("POST", "suppressions/import", { body }).catch((error) => {
      if (at > 0)
        progress(
          `cut short: the first ${at} of ${entries.length} entries are done; run it again for the others\n`,
        );
      throw error;
    })) as ImportedPart;
    const refused = part.refused.map(({ index, reason }) => ({ line: chunk[index]?.line ?? 0, reason }));
    sum = {
      added: sum.added + part.added,
      kept: sum.kept + part.kept,
      refused: [...sum.refused, ...refused],
    };
    const done = at + chunk.length;
    if (entries.length > CHUNK && (done % PROGRESS === 0 || done === entries.length))
      progress(`${done} of ${entries.length} entries\n`);
  }
  return sum;
}

function reportText({ added, kept, refused }: Report): string {
  const lines = refused.map(({ line, reason }) => `line ${line}: ${toCell(reason)}\n`).join("");
  return `${lines}${added} added, ${kept} there already, ${refused.length} refused\n`;
}

interface FileEntry {
  readonly line: number;
  readonly fields: Row;
}

async function readEntries(path: string): Promise<readonly FileEntry[]> {
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
    // The parser keeps no row: with what it tells of each, a million of them would take more than a gigabyte.
    on_record(record, { lines }) {
      take(record, lines);
      return null;
    },
  });
  return entries;
}

/** What separates `email` from its neighbours in the first row: in some languages spreadsheets write semicolons. */
function delimiterOf(text: string): string {
  const [head = ""] = text.trimStart().split(/[\r\n]/, 1);
  const isName = (cell: string) => /^\s*"?email"?\s*$/i.test(cell);
  return [",", ";", "\t"].find((each) => head.split(each).some(isName)) ?? ",";
}

/** The fields that an import takes, without empty ones, and without the `created_at` of an export. */
function toEntry(fields: Row): Row {
  const taken = FIELDS.filter((name) => name !== "created_at" && (fields[name] ?? "") !== "");
  return { email: "", ...Object.fromEntries(taken.map((name) => [name, String(fields[name])])) };
}

async function exportAll({ client, options }: Run, write: (text: string) => void): Promise<void> {
  const isCsv = options.format !== "jsonl" && !options.json;
  let head = isCsv ? `${FIELDS.join(",")}\n` : "";
  let after: string | undefined;
  do {
    const query = { account_id: String(options.account), limit: String(CHUNK), after };
    const page = (await client.request("GET", "suppressions", { query })) as {
      readonly data: readonly Row[];
      readonly next?: string;
    };
    write(head);
    head = "";
    for (const row of page.data.map(importable)) write(`${isCsv ? csvLine(row) : jsonLine(row)}\n`);
    after = page.next;
  } while (after !== undefined);
}

/** An erased entry has no address any more: its digest is exported, which an import takes too. */
function importable(row: Row): Row {
  return row.erased === true ? { ...row, email: row.digest } : row;
}

function csvLine(row: Row): string {
  return FIELDS.map((name) => csvCell(String(row[name] ?? ""))).join(",");
}

/** Undoes the `'` of `csvCell`. */
function plain(cell: string): string {
  return cell.replace(/^'(?='*[=+\-@\t])/, "");
}

/** Quoted where it must be (RFC 4180), and with a `'` in front where a spreadsheet would see a formula, or `plain` one such `'`. */
function csvCell(text: string): string {
  const safe = /^'*[=+\-@\t]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

function jsonLine(row: Row): string {
  return toJson(
    Object.fromEntries(FIELDS.filter((name) => row[name] !== undefined).map((name) => [name, row[name]])),
  );
}

async function release({ client, options, print }: Run): Promise<void> {
  const query = { account_id: String(options.account), email: String(options.email) };
  const { data } = (await client.request("GET", "suppressions", { query })) as {
    readonly data: readonly Row[];
  };
  if (data.length === 0) throw new AdminFailure(`"${query.email}" is not on the list`);
  // There may be an entry for each spelling of the domain.
  for (const { id } of data) await client.request("DELETE", `suppressions/${id}`);
  print({ released: query.email }, () => `${query.email} may be written to again\n`);
}
