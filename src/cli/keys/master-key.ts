import { randomBytes } from "node:crypto";
import { existsSync, linkSync, readFileSync, renameSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { errorText } from "../../core/error-text.ts";
import { syncFolder, writePrivateFile } from "../../store/private-file.ts";
import { DATABASE_FILE } from "../data-folder/data-folder.ts";

/** The key files of the data folder, all readable by their owner only. */
export const MASTER_KEY_FILE = "master.key";
/** The key of a rotation under way. */
export const NEXT_KEY_FILE = "master.key.next";
/** The key before the last rotation, which older backups need. */
export const PREVIOUS_KEY_FILE = "master.key.previous";

/** The least length of a master key, in characters. A file with a shorter one is truncated. */
export const MIN_KEY_LENGTH = 16;

/**
 * The master key of secrets at rest: `POSTRIDER_SECRET`, or else a file that is made at the first start. Throws if there is a
 * database but not its key file, since a new key could open nothing in it.
 */
export function readMasterKey(dataFolder: string, secret: string | undefined): string {
  if (secret !== undefined) return secret;
  const path = join(dataFolder, MASTER_KEY_FILE);
  if (existsSync(path)) return wholeKey(path);
  if (existsSync(join(dataFolder, DATABASE_FILE))) {
    throw new Error(
      `${path} is missing, and without it the database's secrets cannot be read: restore it, or set POSTRIDER_SECRET`,
    );
  }
  makeMasterKey(path);
  return wholeKey(path);
}

function wholeKey(path: string): string {
  const key = readKeyFile(path).trim();
  if (key.length >= MIN_KEY_LENGTH) return key;
  throw new Error(`${path} holds no master key: restore it, or remove it if the folder is new`);
}

/** The text of a key file. Throws, in words for the operator, if it cannot be read. */
export function readKeyFile(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (cause) {
    const reason = errorText(cause);
    throw new Error(`${path} cannot be read (${reason}): make it a file of the user that runs this`, {
      cause,
    });
  }
}

/**
 * Makes the key file, although the folder is not locked yet. The key is written to a draft, which is linked to its name only if
 * that is free. So processes that start at the same time get the same key, and a crash leaves a complete key file or none.
 */
function makeMasterKey(path: string): void {
  const draft = `${path}.${randomBytes(8).toString("hex")}`;
  try {
    writeKey(draft);
    putInPlace(draft, path);
  } finally {
    rmSync(draft, { force: true });
  }
  syncFolder(dirname(path));
}

function writeKey(path: string): void {
  try {
    writePrivateFile(path, `${randomBytes(32).toString("hex")}\n`);
  } catch (cause) {
    throw new Error(
      `no master key can be written to ${dirname(path)} (${errorText(cause)}): make room on its disk, or name another folder with POSTRIDER_DATA`,
      { cause },
    );
  }
}

function putInPlace(draft: string, path: string): void {
  try {
    linkSync(draft, path);
  } catch {
    // Another process was first, or this file system has no hard links.
    if (!existsSync(path)) renameSync(draft, path);
  }
}
