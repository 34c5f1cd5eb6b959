import { Command } from "commander";
import packageJson from "../../package.json" with { type: "json" };
import { addAdminCommands } from "./admin/admin-commands.ts";
import { ROLES, readAdminTarget, type ServeOptions } from "./config.ts";

const program = new Command("postrider")
  .description("Self-hosted messaging: SMS, email and push registration behind one HTTP API")
  .version(packageJson.version);

program
  .command("serve")
  .description("run the service")
  .option("--roles <roles>", `which parts run in this process: ${ROLES.join(",")} (default: all)`)
  .option(
    "--store-thread",
    "write to SQLite on a thread of its own, for disks whose commit takes milliseconds",
  )
  .action(async (options: ServeOptions) => {
    // Loaded only here: the administration starts faster without the service.
    const { serve } = await import("./serve.ts");
    await serve(process.env, options);
  });

addAdminCommands(program, readAdminTarget(process.env));

await program.parseAsync();
