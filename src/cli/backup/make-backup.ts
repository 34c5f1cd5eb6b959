import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { writePrivateFile } from "../../store/private-file.ts";
import { readKeyCheckValue } from "../../store/sqlite/backup.ts";
import { CommandFailure } from "../commands/command-failure.ts";
import { DATABASE_FILE, SANDBOX_FILE } from "../data-folder/data-folder.ts";
import { ownDatabase } from "../data-folder/own-database.ts";
import { type KeyPlaces, requireMasterKey } from "../keys/find-master-key.ts";
import { MASTER_KEY_FILE } from "../keys/master-key.ts";
import { slowly } from "../slow-work.ts";
import type { OnStep } from "./backup-progress.ts";
import { MANIFEST_FILE, type Manifest } from "./manifest.ts";
import { inNewFolder, type MadeBackup, type NewFolder } from "./new-folder.ts";

export interface BackupOrder extends NewFolder, KeyPlaces {
  /** Includes the master key and `sandbox.json`, which holds the admin token. */
  readonly withKey: boolean;
  readonly version: string;
  readonly onStep: OnStep;
}

/** Backs up a data folder, whether its service runs or not. */
export async function makeBackup(order: BackupOrder): Promise<MadeBackup> {
  const database = ownDatabase(order.dataFolder);
  // Before the copy, which takes long if the database is large.
  if (order.withKey) requireMasterKey(order, keyCheckOf(database));
  return inNewFolder(order, (draft) => fill(draft, database, order));
}

/** `undefined` also if the file cannot be read: the copy will say what is wrong with it. */
function keyCheckOf(database: string): string | undefined {
  try {
    return readKeyCheckValue(database);
  } catch {
    return undefined;
  }
}

async function fill(draft: string, database: string, order: BackupOrder): Promise<Manifest> {
  const copy = join(draft, DATABASE_FILE);
  const copied = slowly("copyOut", [database, copy], order.onStep).catch((error) => {
    // If a disk is full, it may be that of either.
    if (!(error instanceof CommandFailure)) throw error;
    throw new CommandFailure(`${database} cannot be copied into ${dirname(draft)}: ${error.message}`);
  });
  const { problems, holdings, keyCheckValue } = await copied;
  if (problems.length > 0) throw new CommandFailure(`${database} is damaged: ${problems.join("; ")}`);
  const secrets = order.withKey ? writeSecrets(draft, keyCheckValue, order) : [];
  return describeBackup(draft, { ...order, names: [DATABASE_FILE, ...secrets], holds: holdings });
}

export interface Described
  extends Pick<BackupOrder, "version" | "now" | "onStep">,
    Pick<Manifest, "holds" | "postgres"> {
  /** Names of the backup's files. */
  readonly names: readonly string[];
}

/** Writes the manifest, which is the last file of a backup. */
export async function describeBackup(
  draft: string,
  { version, now, onStep, names, holds, postgres }: Described,
): Promise<Manifest> {
  const paths = names.map((name) => join(draft, name));
  const digests = await slowly("digestFiles", [paths], onStep);
  const unread = paths.find((_, index) => digests[index] === undefined);
  if (unread !== undefined) throw new CommandFailure(`${unread} cannot be read`);
  const manifest: Manifest = {
    format: 1,
    version,
    created_at: new Date(now).toISOString(),
    files: Object.fromEntries(names.map((name, index) => [name, digests[index] ?? ""])),
    holds,
    ...(postgres && { postgres }),
  };
  writePrivateFile(join(draft, MANIFEST_FILE), `${JSON.stringify(manifest, null, 2)}\n`);
  return manifest;
}

/** Writes the master key and `sandbox.json`. Returns the names of the files. Throws if the key is not at hand. */
export function writeSecrets(
  draft: string,
  checkValue: string | undefined,
  places: KeyPlaces,
): readonly string[] {
  const key = requireMasterKey(places, checkValue);
  const { dataFolder } = places;
  writePrivateFile(join(draft, MASTER_KEY_FILE), `${key}\n`);
  const sandbox = join(dataFolder, SANDBOX_FILE);
  if (!existsSync(sandbox)) return [MASTER_KEY_FILE];
  writePrivateFile(join(draft, SANDBOX_FILE), readFileSync(sandbox, "utf8"));
  return [MASTER_KEY_FILE, SANDBOX_FILE];
}
