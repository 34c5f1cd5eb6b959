/**
 * Runs when the program is built (`scripts/console-plugin.ts`), so that what it returns becomes part of the program, or when it is loaded
 * from its sources. Not as a macro, which Bun cannot load from a folder that has a quote in its path.
 */
import { readdirSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";

const FOLDER = join(import.meta.dirname, "../../console");

/**
 * The files of the web console by name, whatever folder they are in: no two have the same name. Scripts are the modules of
 * `src/console` without their types. Browsers load them one by one, so that there is nothing to bundle.
 */
export function consoleModules(): Record<string, string> {
  const scripts = new Bun.Transpiler({ loader: "ts", target: "browser" });
  const modules: Record<string, string> = {};
  for (const path of readdirSync(FOLDER, { encoding: "utf8", recursive: true })) {
    if (!/\.(html|css|ts)$/.test(path) || path.endsWith(".test.ts")) continue;
    const name = basename(path).replace(/\.ts$/, ".js");
    if (name in modules) throw new Error(`two files of the console would be ${name}`);
    const text = readFileSync(join(FOLDER, path), "utf8");
    modules[name] = path.endsWith(".ts")
      ? scripts.transformSync(text).replace(IMPORTED, "./$<name>.js")
      : text;
  }
  return modules;
}

/** The paths in `from "../dom/dom.ts"` and `import "./dom.ts"`. */
const IMPORTED =
  /(?<=^(?:import|export) (?:[^"]* from )?")\.{1,2}\/(?:[\w-]+\/)*(?<name>[\w-]+)\.ts(?=";$)/gm;
