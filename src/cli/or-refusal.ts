import { isOutage } from "../store/sqlite/database/driver.ts";
import { StoreUnavailable } from "../store/store.ts";
import { AdminFailure } from "./admin/admin-client.ts";
import { report, type Terminal } from "./admin/command-line.ts";

/** Runs a command. On an expected failure prints the reason and exits with code 1, or 2 for wrong usage; rethrows others. */
export async function orRefusal(terminal: Terminal, work: () => void | Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    terminal.exit(report(isEnvironmentFault(error) ? new AdminFailure(error.message) : error, terminal));
  }
}

/** For work whose errors are all written for the operator: rethrows them as `AdminFailure`, printed without a stack. */
export async function withReasons<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw error instanceof Error
      ? new AdminFailure(error.message, {}, error instanceof StoreUnavailable)
      : error;
  }
}

/** For work whose faults, as of a full disk, do not say where that was: rethrows them as `AdminFailure` with the place. */
export async function withPlace<T>(place: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const isFault = error instanceof StoreUnavailable || isEnvironmentFault(error);
    throw isFault ? new AdminFailure(`${place}: ${error.message}`, {}, true) : error;
  }
}

/** A file cannot be read or written, or a database cannot be opened. */
export function isEnvironmentFault(error: unknown): error is Error {
  return error instanceof Error && ("syscall" in error || isOutage(error));
}
