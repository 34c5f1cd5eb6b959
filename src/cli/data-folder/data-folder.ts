import { randomBytes } from "node:crypto";
import {
  accessSync,
  constants,
  existsSync,
  linkSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { syncFolder, writePrivateFile } from "../../store/private-file.ts";

/** What lies in the data folder. All of it is readable by its owner only. */
export const DATABASE_FILE = "postrider.db";
export const SANDBOX_FILE = "sandbox.json";
export const MASTER_KEY_FILE = "master.key";
/** The key of a rotation under way. */
export const NEXT_KEY_FILE = "master.key.next";
/** The key before the last rotation, which older backups need. */
export const PREVIOUS_KEY_FILE = "master.key.previous";

/** Less is a file that was cut short. */
const MIN_KEY_LENGTH = 16;

const OWNER_ONLY_FOLDER = 0o700;
const OTHERS_NOTHING = 0o077;

/**
 * Makes the folder if it is not there. What this process writes from now on is its owner's only, whatever the folder's
 * mode. Throws, in words for the operator, where it cannot be made, or written if it `isWritten`.
 */
export function ensureDataFolder(path: string, { isWritten }: { readonly isWritten: boolean }): void {
  process.umask(OTHERS_NOTHING);
  try {
    mkdirSync(path, { recursive: true, mode: OWNER_ONLY_FOLDER });
    if (isWritten) accessSync(path, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new Error(
      `the data folder ${path} cannot be made or written (${reason}): give it to the user that runs this, or name another with POSTRIDER_DATA`,
      { cause },
    );
  }
}

/**
 * The master key of secrets at rest: `POSTRIDER_SECRET`, or else a file made on first start. A database without
 * its key file is refused, since a new key could open nothing in it.
 */
export function readMasterKey(dataFolder: string, secret: string | undefined): string {
  if (secret !== undefined) return secret;
  const path = join(dataFolder, MASTER_KEY_FILE);
  if (existsSync(path)) return readKeyFile(path);
  if (existsSync(join(dataFolder, DATABASE_FILE))) {
    throw new Error(
      `${path} is missing, and without it the database's secrets cannot be read: restore it, or set POSTRIDER_SECRET`,
    );
  }
  makeMasterKey(path);
  return readKeyFile(path);
}

function readKeyFile(path: string): string {
  const key = readFileSync(path, "utf8").trim();
  if (key.length >= MIN_KEY_LENGTH) return key;
  throw new Error(`${path} holds no master key: restore it, or remove it if the folder is new`);
}

/**
 * The folder is not locked yet. Whoever else starts on it at this moment has the same key in the end, and a crash
 * leaves a whole one or none: the file is made under another name, and takes its own only if that is free.
 */
function makeMasterKey(path: string): void {
  const draft = `${path}.${randomBytes(8).toString("hex")}`;
  writePrivateFile(draft, `${randomBytes(32).toString("hex")}\n`);
  try {
    linkSync(draft, path);
  } catch {
    // It is taken, or this file system has no links.
    if (!existsSync(path)) renameSync(draft, path);
  } finally {
    rmSync(draft, { force: true });
  }
  syncFolder(dirname(path));
}
