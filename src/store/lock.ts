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
  const path = `${folder}/postrider.lock`;
  const driver = orRefuse(folder, () => openDriver(path));
  // With its journal, which a full disk has no room for: then the folder is not to be served.
  orRefuse(folder, () => lock(driver));
  return toLock(driver);
}

/** The same with an empty file of any name, and without a word for the operator. `create`: makes it where it is not there. */
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
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new Error(
      isBusy(cause)
        ? `the data folder ${folder} is taken: another process is using it; stop it, or give this one a folder of its own (POSTRIDER_DATA)`
        : `the data folder ${folder} cannot be locked: ${reason} (postrider.lock)`,
      { cause },
    );
  }
}
