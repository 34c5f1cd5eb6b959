import { Command } from "commander";
import packageJson from "../../package.json" with { type: "json" };
import { PROCESS_TERMINAL } from "./commands/terminal.ts";
import { tellUsage } from "./commands/usage.ts";
import { ROLES, type ServeOptions } from "./config.ts";

const ENVIRONMENT = `
Environment (docs/configuration.md):
  PORT, HOST                  where to listen (8080, 127.0.0.1)
  POSTRIDER_DATA              the data folder (./data)
  POSTRIDER_SECRET            the master key; else a file in the data folder
  DATABASE_URL                PostgreSQL in place of SQLite: postgres://…
  LOG_LEVEL                   from trace to silent (info)
  TRUSTED_PROXIES             whose X-Forwarded-For is trusted
  TLS_CERT, TLS_KEY           PEM files, for HTTPS
  BOUNCE_PORT, BOUNCE_HOST    where to take bounces
  METRICS_PORT, METRICS_HOST  where to serve probes and metrics too
`;

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
    "write to SQLite on a thread of its own (default: on a disk that takes 8 ms or longer per commit)",
  )
  .option("--no-store-thread", "write to SQLite on the thread that takes requests, on slow disks too")
  .option("--listeners <number>", "threads that take requests: more of them use more cores (default: 1)")
  .option(
    "--share-port",
    "let other processes on the same PostgreSQL take requests on the same port: one a core; METRICS_PORT gives each a port of its own for /healthz, /readyz and /metrics",
  )
  .addHelpText("after", ENVIRONMENT)
  .action(async (options: ServeOptions) => {
    // Imported only here, so that the other commands start faster.
    const { serve } = await import("./serve.ts");
    await serve(process.env, options);
  });

/** Turns `help keys create` into `keys create --help`: Commander would only read `help keys` of the former. */
function helpLast(words: readonly string[]): readonly string[] {
  const [first, ...command] = words;
  return first === "help" ? [...command, "--help"] : words;
}

// The only `await` at the top level. Tests run this as CommonJS, which allows none: `scripts/build-quick-start.ts` replaces it.
await run();

async function run(): Promise<void> {
  // The service starts sooner without the other commands.
  if (process.argv[2] !== "serve") (await import("./commands.ts")).addCommands(program, packageJson.version);
  await program.parseAsync(helpLast(process.argv.slice(2)), { from: "user" });
}
