import { errorText } from "../../core/error-text.ts";
import { type FolderLock, lockFolder } from "../../store/lock.ts";
import { AdminFailure } from "../admin/admin-client.ts";

/** Locks a data folder while `work` runs, which has to be alone on it. Throws `AdminFailure` if the folder is locked already. */
export async function withDataFolder<T>(
  folder: string,
  work: (lock: FolderLock) => T | Promise<T>,
): Promise<T> {
  const lock = take(folder);
  try {
    return await work(lock);
  } finally {
    lock.release();
  }
}

function take(folder: string): FolderLock {
  try {
    return lockFolder(folder);
  } catch (error) {
    throw new AdminFailure(errorText(error));
  }
}
