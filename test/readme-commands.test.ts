/** README: the table of the command line has every noun with every verb, and no others. */
import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Command } from "commander";
import { addCommands } from "../src/cli/commands.ts";

const README = readFileSync(join(import.meta.dir, "../README.md"), "utf8");

test("the README lists every noun with its verbs", () => {
  expect(documented()).toEqual(implemented());
});

function implemented(): Record<string, readonly string[]> {
  const program = new Command();
  addCommands(program, "0");
  const nouns = program.commands.filter(({ commands }) => commands.length > 0);
  return Object.fromEntries(nouns.map((noun) => [noun.name(), shown(noun).sort()]));
}

function shown(noun: Command): string[] {
  const names = noun
    .createHelp()
    .visibleCommands(noun)
    .map((verb) => verb.name());
  return names.filter((name) => name !== "help");
}

function documented(): Record<string, readonly string[]> {
  const [, section = ""] = README.split("## The command line");
  const rows = section.matchAll(/^\| (`.+) \| (.+) \|$/gm);
  return Object.fromEntries(
    [...rows].flatMap(([, nouns = "", verbs = ""]) =>
      codes(nouns).map((noun) => [noun, codes(verbs).sort()]),
    ),
  );
}

function codes(text: string): string[] {
  return [...text.matchAll(/`([^`]+)`/g)].map(([, code = ""]) => code);
}
