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
import { errorText } from "../../core/error-text.ts";
import { syncFolder, writePrivateFile } from "../../store/private-file.ts";

/** The files of the data folder, all readable by their owner only. */
export const DATABASE_FILE = "postrider.db";
export const SANDBOX_FILE = "sandbox.json";
export const MASTER_KEY_FILE = "master.key";
/** The key of a rotation under way. */
export const NEXT_KEY_FILE = "master.key.next";
/** The key before the last rotation, which older backups need. */
export const PREVIOUS_KEY_FILE = "master.key.previous";

/** A database that is being restored, before it is checked. */
export const RESTORED_FILE = "postrider.db.restoring";

/** These have to be writable too: a command that ran as root may have left one that belongs to root. */
const WRITTEN_FILES = [DATABASE_FILE, `${DATABASE_FILE}-wal`, `${DATABASE_FILE}-shm`, "postrider.lock"];

/** Throws if a restore into the folder was cut off: a start would make a new database, into which nothing can be restored any more. */
export function refuseHalfRestored(dataFolder: string): void {
  const draft = join(dataFolder, RESTORED_FILE);
  if (existsSync(join(dataFolder, DATABASE_FILE)) || !existsSync(draft)) return;
  throw new Error(
    `a restore into ${dataFolder} is under way or was cut off: wait for it, run it again, or remove ${draft} to begin with an empty database`,
  );
}

/** The least length of a master key, in characters. A file with a shorter one is truncated. */
export const MIN_KEY_LENGTH = 16;

const OWNER_ONLY_FOLDER = 0o700;
const OTHERS_NOTHING = 0o077;

/**
 * Makes the folder if it does not exist, and sets the umask, so that files that this process writes are readable by their owner
 * only. Throws, in words for the operator, if the folder cannot be made, or if it `isWritten` and it or a file in it cannot be
 * written. Returns the outermost folder that was made, if any.
 */
export function ensureDataFolder(
  path: string,
  { isWritten }: { readonly isWritten: boolean },
): string | undefined {
  process.umask(OTHERS_NOTHING);
  try {
    const made = mkdirSync(path, { recursive: true, mode: OWNER_ONLY_FOLDER });
    if (isWritten) checkWritten(path);
    return made;
  } catch (cause) {
    const reason = errorText(cause);
    throw new Error(
      `the data folder ${path} cannot be made or written (${reason}): give it and its files to the user that runs this, or name another with POSTRIDER_DATA`,
      { cause },
    );
  }
}

function checkWritten(path: string): void {
  accessSync(path, constants.R_OK | constants.W_OK | constants.X_OK);
  const files = WRITTEN_FILES.map((name) => join(path, name)).filter((file) => existsSync(file));
  for (const file of files) accessSync(file, constants.R_OK | constants.W_OK);
}

/**
 * The master key of secrets at rest: `POSTRIDER_SECRET`, or else a file that is made at the first start. Throws if there is a
 * database but not its key file, since a new key could open nothing in it.
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
  const key = readOwnFile(path).trim();
  if (key.length >= MIN_KEY_LENGTH) return key;
  throw new Error(`${path} holds no master key: restore it, or remove it if the folder is new`);
}

/** The text of a file in the data folder. Throws, in words for the operator, if it cannot be read. */
export function readOwnFile(path: string): string {
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
