import { randomBytes } from "node:crypto";
import { Command } from "commander";
import packageJson from "../../package.json" with { type: "json" };
import { addAdminCommands } from "./admin/admin-commands.ts";
import { tellUsage } from "./admin/command-line.ts";
import { PROCESS_TERMINAL } from "./admin/process-terminal.ts";
import { addBackupCommands } from "./backup/backup-commands.ts";
import { ROLES, readAdminTarget, readDataTarget, type ServeOptions } from "./config.ts";
import { addMigrateToCommand } from "./data-folder/migrate-to-command.ts";
import { addRotateKeyCommand } from "./keys/rotate-key-command.ts";
import { addListenCommand } from "./listen/listen-command.ts";
import { createSystemClock } from "./system-clock.ts";

const program = new Command("postrider")
  .description("Self-hosted messaging: SMS, email and push registration behind one HTTP API")
  .version(packageJson.version);
tellUsage(program, PROCESS_TERMINAL);

program
  .command("serve")
  .description("run the service")
  .option("--roles <roles>", `which parts run in this process: ${ROLES.join(",")} (default: all)`)
  .option(
    "--store-thread",
    "write to SQLite on a thread of its own, for disks whose commit takes milliseconds",
  )
  .option("--listeners <number>", "threads that take requests: more of them use more cores (default: 1)")
  .option(
    "--share-port",
    "let other processes on the same PostgreSQL take requests on the same port: one a core",
  )
  .action(async (options: ServeOptions) => {
    // Imported only here, so that the admin commands start faster.
    const { serve } = await import("./serve.ts");
    await serve(process.env, options);
  });

addAdminCommands(program, readAdminTarget(process.env));
const clock = createSystemClock();
addBackupCommands(program, {
  target: readDataTarget(process.env),
  terminal: PROCESS_TERMINAL,
  clock,
  version: packageJson.version,
});
addRotateKeyCommand(program, {
  target: readDataTarget(process.env),
  terminal: PROCESS_TERMINAL,
  randomBytes,
});
addMigrateToCommand(program, { target: readDataTarget(process.env), terminal: PROCESS_TERMINAL, clock });
addListenCommand(program, {
  target: readAdminTarget(process.env),
  terminal: PROCESS_TERMINAL,
  clock,
  stopped: whenInterrupted,
});

await program.parseAsync();

/** The first signal ends the command; a second one the process. */
function whenInterrupted(): AbortSignal {
  const stop = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => stop.abort());
  return stop.signal;
}
