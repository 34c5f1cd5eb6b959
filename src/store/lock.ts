import { isOutage, openDriver } from "./sqlite/driver.ts";

export interface Lock {
  release(): void;
}

/**
 * Takes a data folder for this process, for life. The lock is the kernel's, on a file of its own: it goes with
 * the process however that ends, and the database beside it stays readable. Throws at once where another
 * process has the folder.
 */
export function lockFolder(folder: string): Lock {
  const path = `${folder}/postrider.lock`;
  const driver = openDriver(path);
  try {
    driver.exec("PRAGMA busy_timeout = 0");
    driver.exec("BEGIN EXCLUSIVE");
  } catch (cause) {
    driver.close();
    const reason = isOutage(cause) ? "another process is using it" : "it cannot be locked";
    throw new Error(`the data folder ${folder} is taken: ${reason}`, { cause });
  }
  return {
    release() {
      driver.exec("ROLLBACK");
      driver.close();
    },
  };
}
