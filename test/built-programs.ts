import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { CLI } from "../scripts/programs.ts";
import { filledOnce } from "./shared-folder.ts";

let built: string | undefined;

/**
 * The folder of the service's programs, built when a test run first asks: from the sources, a start takes nearly three times
 * the work, and there are hundreds of starts. Benchmarks, and the quickstart, run the sources themselves.
 */
export function builtPrograms(): string {
  if (!isTestRun) return CLI;
  built ??= filledOnce("postrider-built-", build);
  return built;
}

const BUILD = join(import.meta.dir, "../scripts/build-quick-start.ts");

/** `bun test` sets it. */
const isTestRun = process.env.NODE_ENV === "test";

/** In a process of its own, since what it makes depends on the environment, and that of tests says that it is one. */
function build(folder: string): void {
  const env = { PATH: process.env.PATH ?? "", HOME: folder };
  execFileSync(process.execPath, [BUILD, folder], { env, stdio: ["ignore", "ignore", "pipe"] });
}
