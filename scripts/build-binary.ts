/**
 * `npm run build:binary [file]`: the service as one file that needs neither Node nor Bun, for the system it is built on.
 * `--target bun-linux-arm64` and the like build it for another.
 */
import { chmodSync, mkdirSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { parseArgs } from "node:util";
import { CONSOLE_PLUGIN } from "./console-plugin.ts";
import { PROGRAMS } from "./programs.ts";

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { target: { type: "string" } },
});
const outfile = resolve(positionals[0] ?? "dist/postrider");

const EXECUTABLE = 0o755;

mkdirSync(dirname(outfile), { recursive: true });
const { success, logs } = await Bun.build({
  entrypoints: [...PROGRAMS],
  plugins: [CONSOLE_PLUGIN],
  compile: {
    outfile,
    ...(values.target !== undefined && { target: values.target as Bun.Build.CompileTarget }),
    // The binary must not read .env or bunfig.toml in the folder where it is started.
    autoloadDotenv: false,
    autoloadBunfig: false,
  },
});
for (const log of logs) process.stderr.write(`${log.message}\n`);
if (!success) process.exit(1);
chmodSync(outfile, EXECUTABLE);
process.stdout.write(`${outfile}\n`);
