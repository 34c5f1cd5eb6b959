import { randomBytes } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { createVault } from "../../store/vault.ts";
import { MASTER_KEY_FILE, NEXT_KEY_FILE } from "../data-folder/data-folder.ts";

/** The master key at hand that a database belongs to: `POSTRIDER_SECRET`, or of the folder's key files. */
export function findMasterKey(from: {
  readonly dataFolder: string;
  readonly secret: string | undefined;
  /** Of the database; `undefined`: it has never been started on, and any key is its key. */
  readonly checkValue: string | undefined;
}): string | undefined {
  const files = [MASTER_KEY_FILE, NEXT_KEY_FILE].map((name) => readKey(join(from.dataFolder, name)));
  const keys = [from.secret, ...files].filter((key) => key !== undefined);
  return keys.find((key) => from.checkValue === undefined || isKeyOf(from.checkValue, key));
}

/** Whether the secrets of a database with this check value are sealed under the key. */
export function isKeyOf(checkValue: string, masterKey: string): boolean {
  return createVault({ masterKey, randomBytes }).checkValue === checkValue;
}

/** A key file's key; `undefined` where there is no such file, or nothing in it. */
export function readKey(path: string): string | undefined {
  return existsSync(path) ? readFileSync(path, "utf8").trim() || undefined : undefined;
}
