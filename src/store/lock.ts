import { type Driver, isBusy, openDriver } from "./sqlite/database/driver.ts";

export interface Lock {
  release(): void;
}

/**
 * Takes a data folder for this process, for life. The lock is the kernel's, on a file of its own: it goes with
 * the process however that ends, and the database beside it stays readable. Throws at once where another
 * process has the folder, or where the file cannot be written: a full disk, another user's folder.
 */
export function lockFolder(folder: string): Lock {
  return orRefuse(folder, () => lockFile(`${folder}/postrider.lock`));
}

/** The same with any file, which is made where it is not there; `isTaken` tells what was thrown where another process has it. */
export function lockFile(path: string): Lock {
  const driver = openDriver(path);
  lock(driver);
  return {
    release() {
      driver.exec("ROLLBACK");
      driver.close();
    },
  };
}

export const isTaken = isBusy;

function lock(driver: Driver): void {
  try {
    driver.exec("PRAGMA busy_timeout = 0");
    // Nothing is written: a journal would only be one more file.
    driver.exec("PRAGMA journal_mode = MEMORY");
    driver.exec("BEGIN EXCLUSIVE");
  } catch (error) {
    driver.close();
    throw error;
  }
}

function orRefuse<T>(folder: string, work: () => T): T {
  try {
    return work();
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new Error(
      isTaken(cause)
        ? `the data folder ${folder} is taken: another process is using it; stop it, or give this one a folder of its own (POSTRIDER_DATA)`
        : `the data folder ${folder} cannot be locked: ${reason} (postrider.lock)`,
      { cause },
    );
  }
}
