import { readdirSync } from "node:fs";
import { join } from "node:path";

export const CLI = join(import.meta.dir, "../src/cli");

const threads = readdirSync(CLI).filter((name) => name.endsWith("-thread.ts"));

/** The program first, then those of its threads, which it looks for beside itself also where it is bundled. */
export const PROGRAMS: readonly string[] = ["main.ts", ...threads].map((name) => join(CLI, name));
