import { rmSync } from "node:fs";
import { join } from "node:path";
import { syncFolder, writePrivateFile } from "../../store/private-file.ts";
import { CommandFailure } from "../commands/command-failure.ts";
import type { DataTarget } from "../config.ts";
import { isKeyOf, readKey, requireMasterKey } from "./find-master-key.ts";
import { MASTER_KEY_FILE, MIN_KEY_LENGTH, PREVIOUS_KEY_FILE } from "./master-key.ts";

/**
 * The present master key of a database with this check value. Throws if it is not at hand, if `newSecret` is too short, or
 * if that is the database's key already.
 */
export function findOldKey(
  target: Pick<DataTarget, "dataFolder" | "secret" | "newSecret">,
  checkValue: string | undefined,
): string {
  const { newSecret } = target;
  if (newSecret !== undefined) refuseBadKey(newSecret);
  if (newSecret !== undefined && checkValue !== undefined && isKeyOf(checkValue, newSecret)) {
    throw new CommandFailure("POSTRIDER_NEW_SECRET is the key the database has already");
  }
  return requireMasterKey(target, checkValue);
}

/** Whether the key file holds this key. For a shared database it may hold another: the folder may be that of a service on SQLite. */
export function isFiled(dataFolder: string, key: string): boolean {
  return readKey(join(dataFolder, MASTER_KEY_FILE)) === key;
}

/** Puts the old key file aside and removes it, since the new key is kept in no file. */
export function retireKeyFile(dataFolder: string): void {
  putKeyAside(dataFolder);
  rmSync(join(dataFolder, MASTER_KEY_FILE), { force: true });
  syncFolder(dataFolder);
}

/** Keeps the old key as `master.key.previous`, since earlier backups need it. */
export function putKeyAside(dataFolder: string): void {
  const old = readKey(join(dataFolder, MASTER_KEY_FILE));
  if (old !== undefined) writePrivateFile(join(dataFolder, PREVIOUS_KEY_FILE), `${old}\n`);
}

function refuseBadKey(next: string): void {
  if (next.length >= MIN_KEY_LENGTH) return;
  throw new CommandFailure(`POSTRIDER_NEW_SECRET: expected at least ${MIN_KEY_LENGTH} characters`);
}
