import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { errorText } from "../../core/error-text.ts";
import { createVault } from "../../store/vault.ts";
import { CommandFailure } from "../commands/command-failure.ts";
import type { DataTarget } from "../config.ts";
import { MASTER_KEY_FILE, NEXT_KEY_FILE, readKeyFile } from "./master-key.ts";

/** Where the master key of a database may be: in `POSTRIDER_SECRET`, or in a key file of the data folder. */
export type KeyPlaces = Pick<DataTarget, "dataFolder" | "secret">;

/**
 * The master key of a database; `undefined` if it is in none of the places.
 *
 * @param checkValue that of the database; `undefined` if no service has been started on it: then any key will do
 */
export function findMasterKey(
  { dataFolder, secret }: KeyPlaces,
  checkValue: string | undefined,
): string | undefined {
  const files = [MASTER_KEY_FILE, NEXT_KEY_FILE].map((name) => readKey(join(dataFolder, name)));
  const keys = [secret, ...files].filter((key) => key !== undefined);
  return keys.find((key) => checkValue === undefined || isKeyOf(checkValue, key));
}

/** Like `findMasterKey`, but throws if it is in none of them. */
export function requireMasterKey(places: KeyPlaces, checkValue: string | undefined): string {
  const key = findMasterKey(places, checkValue);
  if (key !== undefined) return key;
  throw new CommandFailure(
    `the master key of this database is not at hand: neither POSTRIDER_SECRET nor a key file of ${places.dataFolder} is it`,
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
    return readKeyFile(path).trim() || undefined;
  } catch (error) {
    throw new CommandFailure(errorText(error));
  }
}
