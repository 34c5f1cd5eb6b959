import { isOutage } from "../store/sqlite/database/driver.ts";
import { AdminFailure } from "./admin/admin-client.ts";
import { type Terminal, UsageFailure } from "./admin/command-line.ts";
import { toCell } from "./admin/table.ts";

/** Does a command's work; where it cannot be done, says why and ends the process: with code 1, or 2 where it was not understood. */
export async function orRefusal(terminal: Terminal, work: () => void | Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    const isUsage = error instanceof UsageFailure;
    if (!isUsage && !(error instanceof AdminFailure) && !isOfMachine(error)) throw error;
    terminal.stderr(`error: ${toCell(error.message)}\n`);
    terminal.exit(isUsage ? 2 : 1);
  }
}

/** For work whose every failure has words for the operator: what it throws is told without a stack. */
export async function withReasons<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw error instanceof Error ? new AdminFailure(error.message) : error;
  }
}

/** A file cannot be read or written, or a database not be opened. */
function isOfMachine(error: unknown): error is Error {
  return error instanceof Error && ("syscall" in error || isOutage(error));
}
