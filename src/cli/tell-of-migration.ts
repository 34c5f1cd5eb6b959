import type { MigrationStep, OnMigration } from "../store/on-migration.ts";
import type { Terminal } from "./commands/terminal.ts";

export const MIGRATING = "changing the database to the schema of this version";

/** Reports a command's migration in the words in which `serve` reports its own. */
export function tellOfMigration(terminal: Pick<Terminal, "stderr">): OnMigration {
  return ({ name, step, of }: MigrationStep) => terminal.stderr(`${MIGRATING}: ${name}, ${step} of ${of}\n`);
}
