import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { errorText } from "../../core/error-text.ts";
import { createVault } from "../../store/vault.ts";
import { CommandFailure } from "../command-failure.ts";
import { MASTER_KEY_FILE, NEXT_KEY_FILE, readOwnFile } from "../data-folder/data-folder.ts";

interface KeySearch {
  readonly dataFolder: string;
  readonly secret: string | undefined;
  /** That of the database; `undefined` if no service has been started on it: then any key will do. */
  readonly checkValue: string | undefined;
}

/** The master key of a database: `POSTRIDER_SECRET` or one of the folder's key files; `undefined` if none of them is it. */
export function findMasterKey(from: KeySearch): string | undefined {
  const files = [MASTER_KEY_FILE, NEXT_KEY_FILE].map((name) => readKey(join(from.dataFolder, name)));
  const keys = [from.secret, ...files].filter((key) => key !== undefined);
  return keys.find((key) => from.checkValue === undefined || isKeyOf(from.checkValue, key));
}

/** Like `findMasterKey`, but throws if none of them is it. */
export function requireMasterKey(search: KeySearch): string {
  const key = findMasterKey(search);
  if (key !== undefined) return key;
  throw new CommandFailure(
    "neither POSTRIDER_SECRET nor a key file of the data folder is this database's master key",
  );
}

/** Whether the secrets of a database with this check value are sealed under the key. */
export function isKeyOf(checkValue: string, masterKey: string): boolean {
  return createVault({ masterKey, randomBytes }).checkValue === checkValue;
}

/** A key file's key; `undefined` if the file does not exist or is empty. Throws if it cannot be read. */
export function readKey(path: string): string | undefined {
  if (!existsSync(path)) return undefined;
  try {
    return readOwnFile(path).trim() || undefined;
  } catch (error) {
    throw new CommandFailure(errorText(error));
  }
}
