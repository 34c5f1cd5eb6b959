import type { Command } from "commander";
import type { RandomBytes } from "../../core/uuid.ts";
import { readHosts } from "../../store/postgres/connections/hosts.ts";
import { untilCutOff } from "../commands/cut-off.ts";
import type { Terminal } from "../commands/terminal.ts";
import type { DataTarget } from "../config.ts";
import { databaseUrlOf } from "../data-folder/database-url.ts";
import { parseFolder } from "../data-folder/parse-folder.ts";
import { tellOfLostCommits } from "../data-folder/tell-of-lost-commits.ts";
import { tellOfMigration } from "../tell-of-migration.ts";
import { rotateKey } from "./rotate-key.ts";
import { rotateSharedKey } from "./rotate-shared-key.ts";

export interface RotateKeyCommand {
  readonly target: DataTarget;
  readonly terminal: Terminal;
  readonly randomBytes: RandomBytes;
  /** See `MigrationOptions`. */
  readonly migrationThread: URL;
}

interface RotateOptions {
  readonly data?: string;
  readonly forgetLinks: boolean;
}

export function addRotateKeyCommand(
  program: Command,
  { target, terminal, randomBytes, migrationThread }: RotateKeyCommand,
): void {
  program
    .command("rotate-key")
    .description(
      "encrypt all secrets with a new master key, while the service is stopped: POSTRIDER_NEW_SECRET, else (not on PostgreSQL) a generated one",
    )
    .option(
      "--forget-links",
      "for an old key that others know: links and return paths of sent mail end",
      false,
    )
    .option("--data <folder>", "the data folder; else POSTRIDER_DATA, else ./data", parseFolder)
    .action(({ data, forgetLinks }: RotateOptions) =>
      untilCutOff(terminal, async (onCutOff) => {
        const dataFolder = data ?? target.dataFolder;
        const databaseUrl = databaseUrlOf(target);
        const migration = { migrationThread, onMigration: tellOfMigration(terminal) };
        const rotation = { ...target, ...migration, dataFolder, forgetLinks, randomBytes, onCutOff };
        const done = await (databaseUrl === undefined
          ? rotateKey({ ...rotation, onLostCommits: tellOfLostCommits(terminal, dataFolder) })
          : rotateSharedKey({ ...rotation, databaseUrl }));
        const place = databaseUrl === undefined ? dataFolder : readHosts(databaseUrl).place;
        if (done === "completed") terminal.stdout(COMPLETED);
        terminal.stdout(
          `all secrets in ${place} are now encrypted with the new master key\n${whatNow(target)}`,
        );
      }),
    );
}

const COMPLETED = "a rotation that was cut off is complete now; nothing further was changed\n";

function whatNow({ secret, newSecret }: DataTarget): string {
  if (newSecret !== undefined) return "start the service with POSTRIDER_SECRET set to it\n";
  if (secret !== undefined) return "it is in master.key: unset POSTRIDER_SECRET before the service starts\n";
  return "it is in master.key; the key of older backups in master.key.previous\n";
}
