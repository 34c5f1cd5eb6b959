import { existsSync, rmSync, statSync, utimesSync } from "node:fs";
import { join } from "node:path";
import { errorText } from "../core/error-text.ts";
import { type Driver, isBusy, openDriver } from "./sqlite/database/driver.ts";
import { countLostCommits } from "./sqlite/database/lost-commits.ts";

export interface Lock {
  release(): void;
}

export interface FolderLock extends Lock {
  /** How many commits that were on disk the database's log has lost, at least; see `countLostCommits`. */
  readonly lostCommits: number;
  /** Deletes the lock's files if they were not there before. Release it right after that: the folder is free for others. */
  forget(): void;
}

/** The name of the database in a data folder. */
export const DATABASE = "postrider.db";

/**
 * Locks a data folder for this process. The kernel holds the lock, on a file of its own, and releases it however the process
 * ends. The database in the folder stays readable. Throws at once if another process has the folder, or if the file cannot be
 * written (a full disk, another user's folder).
 *
 * @param orElse what an operator may do other than stop the process that has the folder, for the error's message
 */
export function lockFolder(folder: string, orElse = ""): FolderLock {
  const path = `${folder}/postrider.lock`;
  const database = join(folder, DATABASE);
  return orRefuse({ folder, orElse }, () => {
    const isNew = !existsSync(path);
    const driver = lockAt(path);
    const lock = {
      ...toLock(driver),
      // Before SQLite opens the database, even to ask who has it open, and writes over what it drops of the log.
      lostCommits: countLostCommits(database),
      forget() {
        // The journal first: once the lock's own file is gone, others may take the lock, and the journal would be theirs.
        if (isNew) for (const file of [`${path}-journal`, path]) rmSync(file, { force: true });
      },
    };
    try {
      makeOwn(path, database);
      return lock;
    } catch (error) {
      lock.forget();
      lock.release();
      throw error;
    }
  });
}

/**
 * Marks the locked file as one of ours. Throws as for a lock that is taken if it was not, and another process has the database
 * open: whoever has the folder may hold a file that somebody has deleted or replaced. Nobody marks another one as long as that
 * process lives.
 */
function makeOwn(path: string, database: string): void {
  const { ino, mtimeMs } = statSync(path, { bigint: true });
  // A file that was put in the place of this one has another number, whatever time it has.
  const mark = ino % LARGEST_TIME;
  if (mtimeMs === mark * 1_000n) return;
  refuseOpen(database);
  try {
    utimesSync(path, Number(mark), Number(mark));
  } catch {
    // The file is another user's: the next process looks at the database too.
  }
}

/** Seconds that every file system can store as a file's time. */
const LARGEST_TIME = 2n ** 31n;

/** Throws SQLite's own error if another process has the database open. */
function refuseOpen(database: string): void {
  if (!existsSync(database)) return;
  try {
    const driver = openDriver(database, { create: false });
    // Without this, SQLite lets others keep a database open whose log one process writes.
    lock(driver, "PRAGMA locking_mode = EXCLUSIVE");
    toLock(driver).release();
  } catch (error) {
    // A database that cannot be opened for another reason is for its own opening to report.
    if (isBusy(error)) throw error;
  }
}

/** How often locking is tried: the file is replaced only by processes that come and go at that very moment. */
const TRIES = 20;

/**
 * Locks the file at the path. Its last owner may just have deleted it, so a lock counts only if the file is still there once it is
 * locked. SQLite tells so by the file that it holds open: the number of a file that is gone is soon another one's.
 */
function lockAt(path: string): Driver {
  for (let tries = 0; tries < TRIES; tries++) {
    const driver = openDriver(path);
    try {
      // With a journal file, for which a full disk has no room: such a folder must not be served.
      begin(driver);
    } catch (error) {
      const hasMoved = driver.hasMoved();
      driver.close();
      // No journal can be made beside a file that is gone.
      if (hasMoved) continue;
      throw error;
    }
    if (!driver.hasMoved()) return driver;
    toLock(driver).release();
  }
  throw new Error("its file is replaced again and again");
}

/** Locks an empty file of any name; its errors are not meant for operators. `create`: makes the file if it is missing. */
export function lockFile(path: string, { create }: { readonly create: boolean }): Lock {
  const driver = openDriver(path, { create });
  lock(driver, "PRAGMA journal_mode = MEMORY");
  return toLock(driver);
}

function toLock(driver: Driver): Lock {
  return {
    release() {
      driver.exec("ROLLBACK");
      driver.close();
    },
  };
}

/** Closes the database if it cannot be locked. */
function lock(driver: Driver, ...pragmas: readonly string[]): void {
  try {
    begin(driver, ...pragmas);
  } catch (error) {
    driver.close();
    throw error;
  }
}

function begin(driver: Driver, ...pragmas: readonly string[]): void {
  for (const pragma of ["PRAGMA busy_timeout = 0", ...pragmas]) driver.exec(pragma);
  driver.exec("BEGIN EXCLUSIVE");
}

function orRefuse<T>(
  { folder, orElse }: { readonly folder: string; readonly orElse: string },
  work: () => T,
): T {
  try {
    return work();
  } catch (cause) {
    const reason = errorText(cause);
    throw new Error(
      isBusy(cause)
        ? `the data folder ${folder} is taken: another process is using it; stop it${orElse}`
        : `the data folder ${folder} cannot be locked: ${reason} (postrider.lock)`,
      { cause },
    );
  }
}
