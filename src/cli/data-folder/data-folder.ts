import { accessSync, constants, existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { errorText } from "../../core/error-text.ts";

/** The files of the data folder, beside its keys; all readable by their owner only. */
export const DATABASE_FILE = "postrider.db";
export const SANDBOX_FILE = "sandbox.json";
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
