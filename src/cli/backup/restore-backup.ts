import { existsSync, readFileSync, renameSync, rmdirSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { syncFile, syncFolder, writePrivateFile } from "../../store/private-file.ts";
import { type Inspection, skipLostEventNumbers } from "../../store/sqlite/backup.ts";
import { CommandFailure } from "../commands/command-failure.ts";
import type { OnCutOff } from "../commands/cut-off.ts";
import { withReasons } from "../commands/or-refusal.ts";
import { DATABASE_FILE, ensureDataFolder, RESTORED_FILE, SANDBOX_FILE } from "../data-folder/data-folder.ts";
import { withDataFolder } from "../data-folder/with-data-folder.ts";
import { findMasterKey, type KeyPlaces } from "../keys/find-master-key.ts";
import { MASTER_KEY_FILE } from "../keys/master-key.ts";
import { slowly } from "../slow-work.ts";
import type { OnStep } from "./backup-progress.ts";
import { checkFiles, type Manifest, readManifest } from "./manifest.ts";

export interface RestoreOrder extends KeyPlaces {
  /** The backup's folder; absolute. */
  readonly from: string;
  /** Unix milliseconds. */
  readonly now: number;
  readonly onCutOff: OnCutOff;
  readonly onStep: OnStep;
}

/**
 * Restores a backup into a data folder that has no database, and need not exist. The database gets its name last, once it is checked and its
 * master key is at hand. Until then, from before the first long step on, a file keeps services from starting on the folder.
 */
export async function restoreBackup(order: RestoreOrder): Promise<Manifest> {
  const { from } = order;
  const manifest = readManifest(from);
  if (manifest.postgres) {
    throw new CommandFailure(
      "this backup is of a PostgreSQL database: set DATABASE_URL to the database to restore it into",
    );
  }
  const made = await withReasons(async () => ensureDataFolder(order.dataFolder, { isWritten: true }));
  await withDataFolder(order.dataFolder, async (lock) => {
    const written: string[] = [];
    const write = (path: string, text: string) => {
      written.push(path);
      writePrivateFile(path, text);
    };
    const remove = () => {
      for (const path of written) rmSync(path, { force: true });
      lock.forget();
      if (made !== undefined) removeEmpty(order.dataFolder, made);
    };
    order.onCutOff("nothing was restored: run the command again", remove);
    try {
      refuseToOverwrite(order.dataFolder);
      await restoreInto(order, { from, manifest, write });
    } catch (error) {
      remove();
      throw error;
    }
    order.onCutOff("the restore is complete");
    syncFolder(order.dataFolder);
  });
  return manifest;
}

/** Removes a folder, and those around it up to `outermost`, as long as they are empty. */
function removeEmpty(folder: string, outermost: string): void {
  try {
    rmdirSync(folder);
  } catch {
    return;
  }
  if (folder !== outermost) removeEmpty(dirname(folder), outermost);
}

function refuseToOverwrite(dataFolder: string): void {
  const taken = [DATABASE_FILE, `${DATABASE_FILE}-wal`].find((name) => existsSync(join(dataFolder, name)));
  if (taken === undefined) return;
  throw new CommandFailure(
    `${join(dataFolder, taken)} is there already, and nothing is overwritten: choose another folder with --data, or move it away`,
  );
}

type Write = (path: string, text: string) => void;

/** @param write makes every file, so that the caller can remove them again if this fails */
async function restoreInto(
  order: RestoreOrder,
  { from, manifest, write }: { readonly from: string; readonly manifest: Manifest; readonly write: Write },
): Promise<void> {
  const { dataFolder, now, onStep } = order;
  const draft = join(dataFolder, RESTORED_FILE);
  write(draft, "");
  await checkFiles(from, manifest, onStep);
  const copied = await slowly("copyIn", [join(from, DATABASE_FILE), draft], onStep);
  const checkValue = checkCopy(copied, manifest);
  skipLostEventNumbers(draft, now);
  syncFile(draft);
  const isOwn = Object.hasOwn(manifest.files, MASTER_KEY_FILE);
  if (findMasterKey(order, checkValue) === undefined) {
    const path = join(dataFolder, MASTER_KEY_FILE);
    const own = isOwn ? findMasterKey({ dataFolder: from }, checkValue) : undefined;
    write(path, `${keyToWrite(path, own, order)}\n`);
  }
  const sandbox = join(dataFolder, SANDBOX_FILE);
  if (Object.hasOwn(manifest.files, SANDBOX_FILE) && !existsSync(sandbox))
    write(sandbox, readFileSync(join(from, SANDBOX_FILE), "utf8"));
  renameSync(draft, join(dataFolder, DATABASE_FILE));
}

/** Checks the copied database. Returns its master key's check value. */
function checkCopy(
  { problems, holdings, keyCheckValue, isNewer }: Inspection,
  { holds }: Manifest,
): string | undefined {
  if (problems.length > 0)
    throw new CommandFailure(`the backup's database is damaged: ${problems.join("; ")}`);
  if (isNewer) {
    throw new CommandFailure(
      "the backup was made by a newer program: restore it with that one, or a later one",
    );
  }
  const differs = Object.entries(holds).some(
    ([name, count]) => holdings[name as keyof Manifest["holds"]] !== count,
  );
  if (differs) throw new CommandFailure("the backup's database does not hold what its backup.json says");
  return keyCheckValue;
}

/** The backup's `own` master key, for the file at the path. Throws if there is another key, or none in the backup. */
function keyToWrite(path: string, own: string | undefined, { secret }: KeyPlaces): string {
  if (existsSync(path)) {
    throw new CommandFailure(`${path} is not the master key of this backup: replace it, or move it away`);
  }
  if (own !== undefined) return own;
  throw new CommandFailure(
    secret === undefined
      ? `this backup holds no master key: put the key file of its time at ${path}, or set POSTRIDER_SECRET to it`
      : `POSTRIDER_SECRET is not the master key of this backup, which holds none itself: set it to the key of its time, or put that at ${path}`,
  );
}
