import { errorText } from "../core/error-text.ts";
import { type Driver, isBusy, openDriver } from "./sqlite/database/driver.ts";

export interface Lock {
  release(): void;
}

/**
 * Locks a data folder for this process. The kernel holds the lock, on a file of its own, and releases it however the
 * process ends; the database beside it stays readable. Throws at once if another process has the folder, or if the file
 * cannot be written: a full disk, another user's folder.
 */
export function lockFolder(folder: string): Lock {
  const path = `${folder}/postrider.lock`;
  const driver = orRefuse(folder, () => openDriver(path));
  // With a journal file, for which a full disk has no room: such a folder must not be served.
  orRefuse(folder, () => lock(driver));
  return toLock(driver);
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

function lock(driver: Driver, ...pragmas: readonly string[]): void {
  try {
    for (const pragma of ["PRAGMA busy_timeout = 0", ...pragmas]) driver.exec(pragma);
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
    const reason = errorText(cause);
    throw new Error(
      isBusy(cause)
        ? `the data folder ${folder} is taken: another process is using it; stop it, or give this one a folder of its own (POSTRIDER_DATA)`
        : `the data folder ${folder} cannot be locked: ${reason} (postrider.lock)`,
      { cause },
    );
  }
}
