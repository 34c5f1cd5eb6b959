import type { Command } from "commander";
import type { Clock } from "../../core/clock.ts";
import type { Counted } from "../../store/move/count-both.ts";
import { UsageFailure } from "../commands/command-failure.ts";
import { untilCutOff } from "../commands/cut-off.ts";
import { readValue } from "../commands/input-file.ts";
import type { Terminal } from "../commands/terminal.ts";
import type { DataTarget } from "../config.ts";
import { tellOfMigration } from "../tell-of-migration.ts";
import { migrateTo, stayWithSqlite } from "./migrate-to.ts";
import { parseFolder } from "./parse-folder.ts";
import { tellOfLostCommits } from "./tell-of-lost-commits.ts";

interface MoveOptions {
  readonly data?: string;
  readonly cancel: boolean;
}

export interface MoveCommand {
  readonly target: DataTarget;
  readonly terminal: Terminal;
  readonly clock: Clock;
  /** See `MigrationOptions`. */
  readonly migrationThread: URL;
}

/** `migrate-to`: moves a stopped service from SQLite to PostgreSQL. */
export function addMigrateToCommand(program: Command, command: MoveCommand): void {
  const { target, terminal, clock, migrationThread } = command;
  program
    .command("migrate-to")
    .argument(
      "[url]",
      "postgres://user:password@host/database, empty; it must not be in use. -: the URL comes on standard input",
    )
    .description(
      "copy a service that is stopped from its data folder into PostgreSQL; continues after an interruption",
    )
    .option("--cancel", "go back to the data folder after all; what the copy has done since is lost", false)
    .option("--data <folder>", "the data folder; else POSTRIDER_DATA, else ./data", parseFolder)
    .action((typed: string | undefined, { data, cancel }: MoveOptions) =>
      untilCutOff(terminal, async (onCutOff) => {
        const dataFolder = data ?? target.dataFolder;
        if (cancel) return void terminal.stdout(await goBack(dataFolder));
        const url = typed === undefined ? "" : await readValue(typed);
        if (url === "") throw new UsageFailure("where to? postrider migrate-to postgres://…");
        const onProgress = createProgress(terminal, clock);
        const onStage = (stage: keyof typeof LEFT) => onCutOff(LEFT[stage]);
        const onMigration = tellOfMigration(terminal);
        const counted = await migrateTo({
          ...target,
          dataFolder,
          url,
          clock,
          onProgress,
          onStage,
          migrationThread,
          onMigration,
          onLostCommits: tellOfLostCommits(terminal, dataFolder),
        });
        terminal.stdout(
          `${describe(counted)}\nall of ${dataFolder} is in PostgreSQL now: start the service with DATABASE_URL\n`,
        );
        terminal.stderr(KEEP_KEY);
      }),
    );
}

async function goBack(dataFolder: string): Promise<string> {
  return (await stayWithSqlite(dataFolder))
    ? `the service may start on ${dataFolder} again; drop the PostgreSQL database\n`
    : `${dataFolder} had not moved\n`;
}

/** What is left if a signal ends the command. */
const LEFT = {
  begun:
    "no service starts on the copy until it is complete: run the command again, and it goes on behind what is copied",
  complete: "the move is complete: start the service with DATABASE_URL",
};

const KEEP_KEY = `The master key stays what it was: keep master.key, or set POSTRIDER_SECRET to it, for every process.
`;

/** Progress is printed at most once a second, and at the end of each table. */
const TELL_EVERY_MS = 1_000;

function createProgress(terminal: Terminal, clock: Clock) {
  let toldAt = Number.NEGATIVE_INFINITY;
  return ({ table, rows, of }: { table: string; rows: number; of: number }) => {
    const now = clock.monotonicMs();
    if (rows < of && now - toldAt < TELL_EVERY_MS) return;
    toldAt = now;
    terminal.stderr(`${table}: ${whole(rows)} of ${whole(of)}\n`);
  };
}

/** A table of the counts on both sides, without those that are 0. */
function describe(counted: readonly Counted[]): string {
  const shown = counted.filter(({ sqlite, postgres }) => sqlite + postgres > 0);
  const rows = [
    ["rows", "SQLite", "PostgreSQL"],
    ...shown.map(({ what, sqlite, postgres }) => [what, whole(sqlite), whole(postgres)]),
  ];
  const width = (column: number) => Math.max(...rows.map((row) => row[column]?.length ?? 0));
  return rows
    .map(
      ([what = "", here = "", there = ""]) =>
        `${what.padEnd(width(0))}  ${here.padStart(width(1))}  ${there.padStart(width(2))}`,
    )
    .join("\n");
}

function whole(count: number): string {
  return count.toLocaleString("en");
}
