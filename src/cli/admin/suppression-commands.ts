/** `suppressions import`, `export` and `release`. */
import { Option } from "commander";
import { SUPPRESSION_REASONS } from "../../core/suppressions/suppression.ts";
import { CommandFailure } from "../commands/command-failure.ts";
import { needed } from "../commands/needed-options.ts";
import { toCell } from "../commands/table.ts";
import type { NounCommand, Row, Run } from "./command-line.ts";
import { CSV_HEAD, csvLine, type FileEntry, jsonLine, readEntries } from "./suppression-file.ts";

/** Entries per request. */
const CHUNK = 1_000;

/** How many entries there are between two lines of progress. They take a fraction of a second. */
const PROGRESS = 10_000;

export function addSuppressionCommands(noun: NounCommand): void {
  const { stdout, stderr } = noun.terminal;
  const verb = (usage: string, summary: string, work: (run: Run) => Promise<void>) =>
    noun.verb({ usage, summary, work }).addOption(needed("--account <id>", "the account"));
  verb("import", "add the addresses of a CSV or JSON lines file", (run) => importAll(run, stderr))
    .addOption(
      needed(
        "--file <path>",
        "CSV or JSON lines with `email` and, if you like, reason, source and expires_at",
      ),
    )
    .addOption(
      new Option("--reason <reason>", "of all entries, whatever the file says").choices(SUPPRESSION_REASONS),
    );
  verb("export", "print the list, as CSV or JSON lines", (run) => exportAll(run, stdout)).addOption(
    new Option("--format <format>", "how to print it").choices(["csv", "jsonl"]).default("csv"),
  );
  verb("release", "allow email to an address again", release).addOption(
    needed("--email <address>", "who may be written to again"),
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
  const { file, reason } = options;
  const written = await readEntries(String(file));
  const entries = reason === undefined ? written : written.map((entry) => withReason(entry, String(reason)));
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

/** Other services write reasons of their own, some of them what the server said. */
function withReason({ line, fields }: FileEntry, reason: string): FileEntry {
  return { line, fields: { ...fields, reason } };
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

async function exportAll({ client, options }: Run, write: (text: string) => void): Promise<void> {
  const isCsv = options.format !== "jsonl" && !options.json;
  let head = isCsv ? `${CSV_HEAD}\n` : "";
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

/** An erased entry has no address any more. Its digest is exported instead, which an import accepts. */
function importable(row: Row): Row {
  return row.erased === true ? { ...row, email: row.digest } : row;
}

async function release({ client, options, print }: Run): Promise<void> {
  const query = { account_id: String(options.account), email: String(options.email) };
  const { data } = (await client.request("GET", "suppressions", { query })) as {
    readonly data: readonly Row[];
  };
  if (data.length === 0) throw new CommandFailure(`"${query.email}" is not on the list`);
  // Each spelling of the domain may have an entry.
  for (const { id } of data) await client.request("DELETE", `suppressions/${id}`);
  print({ released: query.email }, () => `${query.email} may be written to again\n`);
}
