import { type Lock, lockFolder } from "../../store/lock.ts";
import { AdminFailure } from "../admin/admin-client.ts";

/** Locks a data folder for a command that must be the only one on it. Throws `AdminFailure` if it is locked. */
export function takeDataFolder(folder: string): Lock {
  try {
    return lockFolder(folder);
  } catch (error) {
    throw new AdminFailure(error instanceof Error ? error.message : String(error));
  }
}
