/** Runs the commands of a documentation page in a shell, as they are written. */
import { chmodSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { builtPrograms } from "./built-programs.ts";
import { type Ran, ran } from "./ran.ts";

const ROOT = join(import.meta.dir, "..");

export interface Block {
  /** The language after the opening fence. */
  readonly language: string;
  readonly text: string;
}

/** The fenced blocks of the section whose heading begins with the text; `""`: before the first heading; `undefined`: of the whole page. */
export function blocksOf(page: string, heading?: string): readonly Block[] {
  const text = readFileSync(join(ROOT, "docs", page), "utf8");
  const sections = text.split(/^(?=## )/m);
  const named = heading === "" ? sections[0] : sections.find((each) => each.startsWith(`## ${heading}`));
  const section = heading === undefined ? text : named;
  if (section === undefined) throw new Error(`${page} has no section "${heading}"`);
  return [...section.matchAll(/^```(\w*)\n([\s\S]*?)^```$/gm)].map(([, language = "", block = ""]) => ({
    language,
    text: block,
  }));
}

/** The commands of a block, continued lines joined. */
export function commandsOf({ text }: Block): readonly string[] {
  return text
    .replaceAll("\\\n", " ")
    .split("\n")
    .filter((line) => line.trim() !== "");
}

export interface Shell {
  /** `$NAME` in later commands. */
  readonly variables: Record<string, string>;
  run(command: string): Promise<Ran>;
}

/** A shell in the data folder, in which `postrider` is the command line of the service that runs there. */
export function openShell(dataFolder: string): Shell {
  const variables: Record<string, string> = {};
  const program = join(dataFolder, "postrider");
  const main = join(builtPrograms(), "main.ts");
  writeFileSync(
    program,
    `#!/bin/sh\nPOSTRIDER_DATA='${dataFolder}' exec '${process.execPath}' '${main}' "$@"\n`,
  );
  chmodSync(program, 0o755);
  return {
    variables,
    async run(command) {
      const child = Bun.spawn(["sh", "-uc", command.replaceAll("npm run -s postrider --", "postrider")], {
        cwd: dataFolder,
        env: { PATH: `${dataFolder}:${process.env.PATH}`, ...variables },
        stdout: "pipe",
        stderr: "pipe",
      });
      return ran(child);
    },
  };
}
