import { rmSync } from "node:fs";
import { join } from "node:path";
import { syncFolder, writePrivateFile } from "../../store/private-file.ts";
import { AdminFailure } from "../admin/admin-client.ts";
import { MASTER_KEY_FILE, PREVIOUS_KEY_FILE } from "../data-folder/data-folder.ts";
import { readKey } from "./find-master-key.ts";

/** Backups of before need the old key. */
export function putKeyAside(dataFolder: string): void {
  const old = readKey(join(dataFolder, MASTER_KEY_FILE));
  if (old !== undefined) writePrivateFile(join(dataFolder, PREVIOUS_KEY_FILE), `${old}\n`);
}

export function removeKeyFile(dataFolder: string): void {
  rmSync(join(dataFolder, MASTER_KEY_FILE), { force: true });
  syncFolder(dataFolder);
}

const MIN_SECRET_LENGTH = 16;

export function refuseBadKey(next: string, old: string | undefined): void {
  if (next === old) throw new AdminFailure("POSTRIDER_NEW_SECRET is the key the database has already");
  if (next.length >= MIN_SECRET_LENGTH) return;
  throw new AdminFailure(`POSTRIDER_NEW_SECRET: expected at least ${MIN_SECRET_LENGTH} characters`);
}
