import { execFileSync } from "node:child_process";
import { CLI, PROGRAMS } from "../scripts/programs.ts";
import { folderUntilTheEnd } from "./temp-folder.ts";

let built: string | undefined;

/**
 * The folder of the service's programs, bundled when a test run first asks: from the sources, a start takes nearly twice
 * the work, and there are hundreds of starts. Benchmarks, and the commands of the documents, run the sources themselves.
 */
export function builtPrograms(): string {
  if (!isTestRun) return CLI;
  built ??= build();
  return built;
}

/** `bun test` sets it. */
const isTestRun = process.env.NODE_ENV === "test";

/** In a process of its own, since what it makes depends on the environment, and that of tests says that it is one. */
function build(): string {
  const folder = folderUntilTheEnd("postrider-built-");
  // The names that the sources have, since threads are started by them.
  const options = [
    "--target=bun",
    "--splitting",
    "--entry-naming=[name].ts",
    `--outdir=${folder}`,
    `--public-path=${folder}/`,
  ];
  const env = { PATH: process.env.PATH ?? "", HOME: folder };
  execFileSync(process.execPath, ["build", ...options, ...PROGRAMS], {
    env,
    stdio: ["ignore", "ignore", "pipe"],
  });
  return folder;
}
