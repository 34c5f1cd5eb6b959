import { errorText } from "../../core/error-text.ts";
import { type Lock, lockFolder } from "../../store/lock.ts";
import { AdminFailure } from "../admin/admin-client.ts";

/** Locks a data folder while `work`, which must be alone on it, goes on. Throws `AdminFailure` if it is locked. */
export async function withDataFolder<T>(folder: string, work: () => T | Promise<T>): Promise<T> {
  const lock = take(folder);
  try {
    return await work();
  } finally {
    lock.release();
  }
}

function take(folder: string): Lock {
  try {
    return lockFolder(folder);
  } catch (error) {
    throw new AdminFailure(errorText(error));
  }
}
