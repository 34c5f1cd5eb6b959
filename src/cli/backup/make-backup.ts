import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { syncFile, syncFolder, writePrivateFile } from "../../store/private-file.ts";
import { copyDatabase, inspectDatabase, readKeyCheckValue } from "../../store/sqlite/backup.ts";
import { AdminFailure } from "../admin/admin-client.ts";
import { DATABASE_FILE, MASTER_KEY_FILE, SANDBOX_FILE } from "../data-folder/data-folder.ts";
import { ownDatabase } from "../data-folder/own-database.ts";
import { findMasterKey } from "../keys/find-master-key.ts";
import { MANIFEST_FILE, type Manifest, sha256OfFile } from "./manifest.ts";

export interface BackupOrder {
  readonly dataFolder: string;
  /** The folder to make; if it exists, a folder named after the time is made in it. */
  readonly to: string;
  /** Includes the master key and `sandbox.json`, which holds the admin token. */
  readonly withKey: boolean;
  /** `POSTRIDER_SECRET`. */
  readonly secret?: string;
  /** Unix milliseconds. */
  readonly now: number;
  readonly version: string;
}

export interface MadeBackup {
  /** Absolute. */
  readonly folder: string;
  readonly manifest: Manifest;
}

const OWNER_ONLY_FILE = 0o600;

/**
 * Backs up a data folder, whether its service runs or not. The folder gets its name only when it is complete and on
 * disk; a crash leaves one called `….partial-…`.
 */
export function makeBackup(order: BackupOrder): Promise<MadeBackup> {
  const database = ownDatabase(order.dataFolder);
  return inNewFolder(order, async (draft) => fill(draft, database, order));
}

/** Makes a folder that gets its name once `fill` has filled it, and is deleted if that fails. */
export async function inNewFolder(
  order: Pick<BackupOrder, "to" | "now">,
  fill: (draft: string) => Promise<Manifest>,
): Promise<MadeBackup> {
  const folder = nameFor(order);
  const parent = dirname(folder);
  mkdirSync(parent, { recursive: true });
  const draft = mkdtempSync(join(parent, `${basename(folder)}.partial-`));
  try {
    const manifest = await fill(draft);
    renameSync(draft, folder);
    syncFolder(parent);
    return { folder, manifest };
  } catch (error) {
    rmSync(draft, { recursive: true, force: true });
    throw error;
  }
}

function nameFor({ to, now }: Pick<BackupOrder, "to" | "now">): string {
  const path = resolve(to);
  if (!existsSync(path)) return path;
  const time = new Date(now).toISOString().replace(/[-:]|\.\d+/g, "");
  const inside = join(path, `postrider-${time}`);
  if (existsSync(inside)) throw new AdminFailure(`${inside} is there already`);
  return inside;
}

function fill(draft: string, database: string, order: BackupOrder): Manifest {
  const copy = join(draft, DATABASE_FILE);
  copyDatabase(database, copy);
  chmodSync(copy, OWNER_ONLY_FILE);
  syncFile(copy);
  const { problems, holdings } = inspectDatabase(copy);
  if (problems.length > 0) throw new AdminFailure(`${database} is damaged: ${problems.join("; ")}`);
  const checkValue = readKeyCheckValue(copy);
  const secrets = order.withKey ? writeSecrets(draft, checkValue, order) : [];
  return describeBackup(draft, { ...order, names: [DATABASE_FILE, ...secrets], holds: holdings });
}

export interface Described
  extends Pick<BackupOrder, "version" | "now">,
    Pick<Manifest, "holds" | "postgres"> {
  /** Names of the backup's files. */
  readonly names: readonly string[];
}

/** Writes the manifest, which is the last file of a backup. */
export function describeBackup(draft: string, { version, now, names, holds, postgres }: Described): Manifest {
  const manifest: Manifest = {
    format: 1,
    version,
    created_at: new Date(now).toISOString(),
    files: Object.fromEntries(names.map((name) => [name, sha256OfFile(join(draft, name))])),
    holds,
    ...(postgres && { postgres }),
  };
  writePrivateFile(join(draft, MANIFEST_FILE), `${JSON.stringify(manifest, null, 2)}\n`);
  return manifest;
}

/** Writes the master key and `sandbox.json`; returns the names of the files. Throws if the key is not at hand. */
export function writeSecrets(
  draft: string,
  checkValue: string | undefined,
  { dataFolder, secret }: Pick<BackupOrder, "dataFolder" | "secret">,
): readonly string[] {
  const key = findMasterKey({ dataFolder, secret, checkValue });
  if (key === undefined) {
    throw new AdminFailure(
      `the master key of this database is not at hand: neither ${join(dataFolder, MASTER_KEY_FILE)} nor POSTRIDER_SECRET is it`,
    );
  }
  writePrivateFile(join(draft, MASTER_KEY_FILE), `${key}\n`);
  const sandbox = join(dataFolder, SANDBOX_FILE);
  if (!existsSync(sandbox)) return [MASTER_KEY_FILE];
  writePrivateFile(join(draft, SANDBOX_FILE), readFileSync(sandbox, "utf8"));
  return [MASTER_KEY_FILE, SANDBOX_FILE];
}
