import { errorText } from "../../core/error-text.ts";
import { type FolderLock, lockFolder } from "../../store/lock.ts";
import { CommandFailure } from "../commands/command-failure.ts";

export type OnLostCommits = (count: number) => void;

/**
 * Locks a data folder while `work` runs, which has to be alone on it. Throws `CommandFailure` if the folder is locked already.
 *
 * @param onLostCommits called with `FolderLock.lostCommits`, if there are any
 */
export async function withDataFolder<T>(
  folder: string,
  work: (lock: FolderLock) => T | Promise<T>,
  onLostCommits?: OnLostCommits,
): Promise<T> {
  const lock = take(folder);
  try {
    if (lock.lostCommits > 0) onLostCommits?.(lock.lostCommits);
    return await work(lock);
  } finally {
    lock.release();
  }
}

function take(folder: string): FolderLock {
  try {
    return lockFolder(folder);
  } catch (error) {
    throw new CommandFailure(errorText(error));
  }
}
