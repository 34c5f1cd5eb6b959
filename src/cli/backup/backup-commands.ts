import type { Command } from "commander";
import type { Clock } from "../../core/clock.ts";
import { untilCutOff } from "../commands/cut-off.ts";
import { needed } from "../commands/needed-options.ts";
import { toCell } from "../commands/table.ts";
import type { Terminal } from "../commands/terminal.ts";
import type { DataTarget } from "../config.ts";
import { databaseUrlOf } from "../data-folder/database-url.ts";
import { parseFolder } from "../data-folder/parse-folder.ts";
import { createBackupProgress } from "./backup-progress.ts";
import { makeBackup } from "./make-backup.ts";
import { type Manifest, newestInside } from "./manifest.ts";
import { backUpPostgres, restorePostgres } from "./postgres-backup.ts";
import { restoreBackup } from "./restore-backup.ts";

export interface BackupCommands {
  readonly target: DataTarget;
  readonly terminal: Terminal;
  readonly clock: Clock;
  readonly version: string;
}

/** `backup` and `restore`. They work directly on the data folder or the PostgreSQL database, not by way of a service. */
export function addBackupCommands(program: Command, commands: BackupCommands): void {
  addBackup(program, commands);
  addRestore(program, commands);
}

function addBackup(program: Command, { target, terminal, clock, version }: BackupCommands): void {
  program
    .command("backup")
    .description(
      "copy the database as it is now, also while the service runs: DATABASE_URL, else the data folder",
    )
    .addOption(
      needed("--to <folder>", "a new folder; if it exists, the backup is created inside it").argParser(
        parseFolder,
      ),
    )
    .option(
      "--with-key",
      "include the master key and the admin token: the backup then contains every secret",
      false,
    )
    .option("--data <folder>", "the data folder; else POSTRIDER_DATA, else ./data", parseFolder)
    .action((options: { to: string; withKey: boolean; data?: string }) =>
      untilCutOff(terminal, async (onCutOff) => {
        const onLeft = (words: string) => terminal.stderr(`${words}\n`);
        const progress = createBackupProgress(terminal, clock);
        const order = {
          ...orderOf(target, options),
          ...progress,
          now: clock.now(),
          version,
          onCutOff,
          onLeft,
        };
        const databaseUrl = databaseUrlOf(target);
        const { folder, manifest } = await (databaseUrl === undefined
          ? makeBackup(order)
          : backUpPostgres({ ...order, databaseUrl }));
        terminal.stdout(`backup written to ${folder}\n${describe(manifest)}`);
        terminal.stderr(options.withKey ? KEY_INSIDE : KEY_APART);
      }),
    );
}

function addRestore(program: Command, { target, terminal, clock }: BackupCommands): void {
  program
    .command("restore")
    .description(
      "restore a backup into a data folder without a database, or into an empty database at DATABASE_URL",
    )
    .addOption(needed("--from <folder>", "the backup").argParser(parseFolder))
    .option("--data <folder>", "the data folder; else POSTRIDER_DATA, else ./data", parseFolder)
    .action((options: { from: string; data?: string }) =>
      untilCutOff(terminal, async (onCutOff) => {
        const order = { ...orderOf(target, options), ...createBackupProgress(terminal, clock), onCutOff };
        const databaseUrl = databaseUrlOf(target);
        const manifest =
          databaseUrl === undefined
            ? await restoreBackup({ ...order, now: clock.now() })
            : await restorePostgres({ ...order, databaseUrl, clock });
        const where = databaseUrl === undefined ? order.dataFolder : "the database of DATABASE_URL";
        terminal.stdout(`restored into ${where}\n${describe(manifest)}`);
        terminal.stderr(newerThan(manifest, order.from) + SENT_AGAIN);
      }),
    );
}

/** The first of a series of backups may hold all others, if its folder was not there before. */
function newerThan({ created_at }: Manifest, from: string): string {
  const newest = newestInside(from);
  if (newest === undefined || newest.manifest.created_at <= created_at) return "";
  return `WARNING: this is not the newest backup: ${newest.folder} was made ${newest.manifest.created_at}.\n`;
}

function orderOf<Options extends { readonly data?: string }>(target: DataTarget, options: Options) {
  return { ...target, ...options, dataFolder: options.data ?? target.dataFolder };
}

const KEY_APART = `WARNING: the master key is NOT in this backup, and without it the backup cannot be restored.
Keep master.key (or POSTRIDER_SECRET) in another safe place; --with-key puts it in.
`;

const KEY_INSIDE = `WARNING: the master key and the admin token are in this backup: anybody who has it has all your secrets.
`;

const SENT_AGAIN = `WARNING: what was unfinished when the backup was made will be sent when the service starts, also what has been
sent since. Never start it beside the service it was taken from.
`;

function describe({ created_at, version, holds, files }: Manifest): string {
  const rows = [
    ["made", `${created_at}, by ${version}`],
    ["files", filesOf(Object.keys(files))],
    ...Object.entries(holds).map(([name, count]) => [name, String(count)]),
  ];
  return rows.map(([name = "", value]) => `  ${toCell(name).padEnd(11)} ${toCell(value)}\n`).join("");
}

/** The names of the files, or only how many there are if each table has one. */
function filesOf(names: readonly string[]): string {
  return names.length > 5 ? String(names.length) : names.join(", ");
}
