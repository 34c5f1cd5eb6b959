import { resolve } from "node:path";
import type { Command } from "commander";
import type { Terminal } from "../admin/command-line.ts";
import type { DataTarget } from "../config.ts";
import { orRefusal } from "../or-refusal.ts";
import { makeBackup } from "./make-backup.ts";
import type { Manifest } from "./manifest.ts";
import { restoreBackup } from "./restore-backup.ts";

export interface BackupCommands {
  readonly target: DataTarget;
  readonly terminal: Terminal;
  /** Unix milliseconds. */
  readonly now: () => number;
  readonly version: string;
}

/** `backup` and `restore`: they work on the data folder itself, with or without a service on it. */
export function addBackupCommands(
  program: Command,
  { target, terminal, now, version }: BackupCommands,
): void {
  program
    .command("backup")
    .description("copy the data folder as it is now, also while the service runs")
    .requiredOption("--to <folder>", "a new folder; where it is there already, one is made in it")
    .option(
      "--with-key",
      "put in the master key and the admin token: then the backup opens everything",
      false,
    )
    .option("--data <folder>", "the data folder; else POSTRIDER_DATA, else ./data")
    .action((options: { to: string; withKey: boolean; data?: string }) =>
      orRefusal(terminal, () => {
        const order = { ...target, ...options, ...dataFolderOf(options), now: now(), version };
        const { folder, manifest } = makeBackup(order);
        terminal.stdout(`backup written to ${folder}\n${describe(manifest)}`);
        terminal.stderr(options.withKey ? KEY_INSIDE : KEY_APART);
      }),
    );
  program
    .command("restore")
    .description("put a backup into a data folder that has no database")
    .requiredOption("--from <folder>", "the backup")
    .option("--data <folder>", "the data folder; else POSTRIDER_DATA, else ./data")
    .action((options: { from: string; data?: string }) =>
      orRefusal(terminal, () => {
        const order = { ...target, ...options, ...dataFolderOf(options) };
        const manifest = restoreBackup(order);
        terminal.stdout(`restored into ${order.dataFolder}\n${describe(manifest)}`);
        terminal.stderr(SENT_AGAIN);
      }),
    );

  function dataFolderOf({ data }: { readonly data?: string }) {
    return { dataFolder: data === undefined ? target.dataFolder : resolve(data) };
  }
}

const KEY_APART = `WARNING: the master key is NOT in this backup, and without it the backup cannot be restored.
Keep master.key (or POSTRIDER_SECRET) in another safe place; --with-key puts it in.
`;

const KEY_INSIDE = `WARNING: the master key and the admin token are in this backup: whoever has it has all your secrets.
`;

const SENT_AGAIN = `WARNING: what was unfinished when the backup was made will be sent when the service starts, also what has been
sent since. Never start it beside the service it was taken from.
`;

function describe({ created_at, version, holds, files }: Manifest): string {
  const rows = [
    ["made", `${created_at}, by ${version}`],
    ["files", Object.keys(files).join(", ")],
    ...Object.entries(holds).map(([name, count]) => [name, String(count)]),
  ];
  return rows.map(([name = "", value]) => `  ${name.padEnd(11)} ${value}\n`).join("");
}
