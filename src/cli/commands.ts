/** The commands other than `serve`. */
import { randomBytes } from "node:crypto";
import type { Command } from "commander";
import { addAdminCommands } from "./admin/admin-commands.ts";
import { addBackupCommands } from "./backup/backup-commands.ts";
import { PROCESS_TERMINAL } from "./commands/terminal.ts";
import { readAdminTarget, readDataTarget } from "./config.ts";
import { addMigrateToCommand } from "./data-folder/migrate-to-command.ts";
import { addRotateKeyCommand } from "./keys/rotate-key-command.ts";
import { addListenCommand } from "./listen/listen-command.ts";
import { createSystemClock } from "./system-clock.ts";

export function addCommands(program: Command, version: string): void {
  const admin = readAdminTarget(process.env);
  const target = readDataTarget(process.env);
  const terminal = PROCESS_TERMINAL;
  const clock = createSystemClock();
  const migrationThread = new URL("./migration-thread.ts", import.meta.url);
  addAdminCommands(program, admin, terminal);
  addBackupCommands(program, { target, terminal, clock, version });
  addRotateKeyCommand(program, { target, terminal, randomBytes, migrationThread });
  addMigrateToCommand(program, { target, terminal, clock, migrationThread });
  addListenCommand(program, { target: admin, terminal, clock, stopped: whenInterrupted });
}

/** The first signal ends the command, a second one the process. */
function whenInterrupted(): AbortSignal {
  const stop = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => stop.abort());
  return stop.signal;
}
