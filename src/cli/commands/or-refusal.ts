import { isOutage } from "../../store/sqlite/database/driver.ts";
import { StoreUnavailable } from "../../store/store.ts";
import { CommandFailure } from "./command-failure.ts";
import { report } from "./report.ts";
import type { Terminal } from "./terminal.ts";

/** Runs a command. On an expected failure prints the reason and exits with code 1, or 2 for wrong usage; rethrows others. */
export async function orRefusal(terminal: Terminal, work: () => void | Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    terminal.exit(report(isEnvironmentFault(error) ? new CommandFailure(error.message) : error, terminal));
  }
}

/** For work whose errors are all written for the operator: rethrows them as `CommandFailure`, printed without a stack. */
export async function withReasons<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw error instanceof Error
      ? new CommandFailure(error.message, {}, error instanceof StoreUnavailable)
      : error;
  }
}

/** For work whose faults, as of a full disk, do not say where that was: rethrows them as `CommandFailure` with the place. */
export async function withPlace<T>(place: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const isFault = error instanceof StoreUnavailable || isEnvironmentFault(error);
    throw isFault ? new CommandFailure(`${place}: ${error.message}`, {}, true) : error;
  }
}

/** A file cannot be read or written, or a database cannot be opened. */
export function isEnvironmentFault(error: unknown): error is Error {
  return error instanceof Error && ("syscall" in error || isOutage(error));
}
