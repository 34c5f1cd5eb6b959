/** Runs while the program is built, or read where it runs from its sources: what it returns becomes part of the program. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

const FOLDER = join(import.meta.dirname, "../../console");

/**
 * The files of the web console by name. Scripts are the modules of `src/console` without their types: browsers load them
 * as they are, one by one, so that there is nothing to bundle.
 */
export function consoleModules(): Record<string, string> {
  const scripts = new Bun.Transpiler({ loader: "ts", target: "browser" });
  const files = readdirSync(FOLDER).filter(
    (name) => /\.(html|css|ts)$/.test(name) && !name.endsWith(".test.ts"),
  );
  return Object.fromEntries(
    files.map((name) => {
      const text = readFileSync(join(FOLDER, name), "utf8");
      if (!name.endsWith(".ts")) return [name, text];
      return [scriptName(name), scripts.transformSync(text).replace(IMPORTED, (found) => scriptName(found))];
    }),
  );
}

/** The names in `from "./dom.ts"` and `import "./dom.ts"`. */
const IMPORTED = /(?<=^(?:import|export) (?:[^"]* from )?"\.\/)[\w-]+\.ts(?=";$)/gm;

function scriptName(name: string): string {
  return name.replace(/\.ts$/, ".js");
}
