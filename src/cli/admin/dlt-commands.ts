/** `dlt import`: imports a DLT portal's export into an account. */
import { DLT_LISTS } from "../../core/dlt/dlt-columns.ts";
import { CommandFailure, UsageFailure } from "../commands/command-failure.ts";
import { readTextFile } from "../commands/input-file.ts";
import { toCell } from "../commands/table.ts";
import type { Terminal } from "../commands/terminal.ts";
import { addNoun, type CommandLine, type Row, type Run } from "./command-line.ts";
import { LONG, splitDltCsv } from "./dlt-pieces.ts";
import { addOptions } from "./option-rows.ts";

export function addDltCommands(commandLine: CommandLine): void {
  const noun = addNoun(commandLine, "dlt", "India's DLT registry");
  const verb = noun.verb({
    usage: "import",
    summary: "import templates, headers or entities from a DLT portal's CSV export",
    async work(run) {
      const report = await importAll(run, createProgress(run, commandLine.terminal));
      run.print(report, reportText);
      if (report.refused.length > 0) run.fail();
    },
  });
  addOptions(verb, [
    { flags: "--account <id>", field: "account_id", meaning: "the account", isRequired: true },
    {
      flags: "--file <path>",
      field: "csv",
      meaning: "the CSV file as the portal exported it",
      isRequired: true,
    },
  ]);
  verb
    .option("--kind <kind>", "templates, headers or entities; none: the columns tell")
    .option("--dry-run", "say what would happen, and change nothing");
}

/** Prints how far an import is, and repeats the last line when a part of it fails. */
function createProgress({ options }: Run, { stderr }: Pick<Terminal, "stderr">): Progress {
  let done: string | undefined;
  return {
    done(what) {
      done = what;
      stderr(`${what}\n`);
    },
    failed() {
      if (done !== undefined && !options.dryRun)
        stderr(`cut short: ${done} are done; run it again for the others\n`);
    },
  };
}

interface Progress {
  done(what: string): void;
  failed(): void;
}

interface Report {
  readonly kind: string;
  readonly dry_run: boolean;
  readonly rows: number;
  readonly created: number;
  readonly updated: number;
  readonly unchanged: number;
  readonly merged: number;
  readonly refused: readonly { readonly line: number; readonly reason: string }[];
  readonly ignored_columns: readonly string[];
}

/** One answer of several. `next`: the `after` of the next request. */
interface Part extends Report {
  readonly done: number;
  readonly total: number;
  readonly next?: number;
}

async function importAll(run: Run, progress: Progress): Promise<Report> {
  const path = String(run.options.file);
  const csv = await readTextFile(path);
  if (csv === "") throw new UsageFailure(`"${path}" is empty`);
  if (csv.length < LONG) return importText(run, csv, progress);
  const { kind } = run.options;
  const split = await splitDltCsv(
    csv,
    DLT_LISTS.find((list) => list === kind),
  );
  if ("problem" in split) throw new CommandFailure("validation failed", { csv: split.problem });
  let sum: Report | undefined;
  let done = 0;
  for (const piece of split.pieces) {
    const part = await importText(run, piece.csv, { ...progress, done: () => {} });
    sum = sum ? added(sum, part) : part;
    done += piece.ids;
    progress.done(`${done} of ${split.ids} ${part.kind}`);
  }
  return sum ?? importText(run, csv, progress);
}

async function importText({ client, options }: Run, csv: string, progress: Progress): Promise<Report> {
  const body: Row = {
    account_id: options.account,
    csv,
    kind: options.kind,
    dry_run: options.dryRun === true,
  };
  let sum: Report | undefined;
  let after: number | undefined = 0;
  do {
    const answer = await client.request("POST", "dlt/import", { body: { ...body, after } }).catch((error) => {
      progress.failed();
      throw error;
    });
    const { done, total, next, ...part } = answer as Part;
    sum = sum ? addedChunk(sum, part) : part;
    if (after > 0 || next !== undefined) progress.done(`${done} of ${total} ${part.kind}`);
    after = next;
  } while (after !== undefined);
  return sum;
}

/** The sum of two reports about different rows. */
function added(sum: Report, part: Report): Report {
  return { ...addedChunk(sum, part), rows: sum.rows + part.rows };
}

/** The sum of two reports about the same rows, which are counted once. */
function addedChunk(sum: Report, part: Report): Report {
  return {
    ...sum,
    created: sum.created + part.created,
    updated: sum.updated + part.updated,
    unchanged: sum.unchanged + part.unchanged,
    merged: sum.merged + part.merged,
    refused: [...sum.refused, ...part.refused].sort((one, other) => one.line - other.line),
  };
}

function reportText(report: Report): string {
  const { kind, rows, created, updated, unchanged, merged, refused } = report;
  const counts = Object.entries({ created, updated, unchanged, merged, refused: refused.length });
  const sum = counts.map(([what, count]) => `${count} ${what}`).join(", ");
  const lines = [
    `${rows} ${rows === 1 ? "row" : "rows"} of ${kind}: ${sum}`,
    ...refused.map(({ line, reason }) => `line ${line}: ${toCell(reason)}`),
    ...(report.ignored_columns.length > 0 ? [`columns not read: ${toCell(report.ignored_columns)}`] : []),
    ...(report.dry_run ? ["nothing was changed: this was a dry run"] : []),
  ];
  return `${lines.join("\n")}\n`;
}
