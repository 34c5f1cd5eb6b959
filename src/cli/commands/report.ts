import { CommandFailure, UsageFailure } from "./command-failure.ts";
import { toCell } from "./table.ts";
import type { Terminal } from "./terminal.ts";

export interface FieldProblem {
  /** The option, and where in it if its value has parts; or the field's name, if no option sets it. */
  readonly name: string;
  readonly reason: string;
}

/**
 * Prints the error and returns the exit code. Bugs are thrown on, so that their stack is shown.
 *
 * @param named what a refused field is called here; absent: as the API calls it
 */
export function report(
  error: unknown,
  terminal: Pick<Terminal, "stderr">,
  named: (field: string, reason: string) => FieldProblem = (name, reason) => ({ name, reason }),
): number {
  if (error instanceof UsageFailure) {
    terminal.stderr(`error: ${toCell(error.message)}\n`);
    return 2;
  }
  if (!(error instanceof CommandFailure)) throw error;
  const fields = Object.entries(error.fields)
    .map(([field, reason]) => named(field, reason))
    .map(({ name, reason }) => `  ${toCell(name)}: ${toCell(reason)}\n`);
  terminal.stderr(`error: ${toCell(error.message)}\n${fields.join("")}`);
  return 1;
}
