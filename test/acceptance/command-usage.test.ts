/** Commands that speak to no service: what is not understood ends with code 2, and has done nothing. */
import { afterAll, expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Command } from "commander";
import { addCommands } from "../../src/cli/commands.ts";
import { makeDataFolder } from "../postrider-process.ts";
import { typeInto } from "./typed-commands.ts";

const CONFIGURATION = readFileSync(join(import.meta.dir, "../../docs/configuration.md"), "utf8");

const folder = makeDataFolder();
const { run, spawned } = typeInto(join(folder.path, "data"));
afterAll(folder.remove);

test.each([
  [["backup", "--to", ""], "'--to <folder>' argument '' is invalid. It is empty: name a folder"],
  [["restore", "--from", ""], "'--from <folder>' argument '' is invalid. It is empty: name a folder"],
  [["backup", "--to", "x", "--data", ""], "'--data <folder>' argument '' is invalid"],
  [["migrate-to", "postgres://h/d", "--data", ""], "'--data <folder>' argument '' is invalid"],
  [["rotate-key", "--data", ""], "'--data <folder>' argument '' is invalid"],
])("%p names no folder", async (args, reason) => {
  const { code, err } = await spawned(args);
  expect([code, err]).toEqual([2, expect.stringContaining(reason)]);
  expect(existsSync(join(folder.path, "data"))).toBe(false);
});

test.each([[["migrate-to"]], [["migrate-to", "-"]]])("%p says nothing of where to", async (args) => {
  const { code, err } = await spawned(args);
  expect([code, err]).toEqual([2, "error: where to? postrider migrate-to postgres://…\n"]);
});

test.each([
  ["keys", "delete", "revoke"],
  ["settings", "list", "get"],
  ["settings", "show", "get"],
])("%s have no %s: %s is suggested, whatever stands behind the word", async (noun, typed, meant) => {
  const err = `error: unknown command '${typed}'\n(Did you mean ${meant}?)\nAdd --help to see the commands and options.\n`;
  for (const args of [[typed], [typed, "x", "--json"], [typed, "--help"], ["help", typed]])
    expect(await run([noun, ...args])).toEqual({ code: 2, out: "", err });
  expect((await run([noun, "--help"])).out).not.toMatch(new RegExp(`^  ${typed}`, "m"));
});

test("help for a command that is not there names it, and near ones, as the command itself does", async () => {
  const seeHelp = "Add --help to see the commands and options.";
  for (const [args, err] of [
    [["help", "nope"], `error: unknown command 'nope'\n${seeHelp}\n`],
    [["help", "keyss"], `error: unknown command 'keyss'\n(Did you mean keys?)\n${seeHelp}\n`],
    [["keys", "help", "revok"], `error: unknown command 'revok'\n(Did you mean revoke?)\n${seeHelp}\n`],
    [["help", "keys", "revok"], `error: unknown command 'revok'\n(Did you mean revoke?)\n${seeHelp}\n`],
    [["keys", "nope", "--help"], `error: unknown command 'nope'\n${seeHelp}\n`],
    [["nope", "--help"], `error: unknown command 'nope'\n${seeHelp}\n`],
  ] as const)
    expect(await spawned(args)).toEqual({ code: 2, out: "", err });
  for (const [args, usage] of [
    [["help"], "postrider [options] [command]"],
    [["help", "keys"], "postrider keys [options] [command]"],
    [["keys", "help", "revoke"], "postrider keys revoke [options] <id>"],
    [["help", "keys", "revoke"], "postrider keys revoke [options] <id>"],
  ] as const)
    expect(await spawned(args)).toMatchObject({ code: 0, out: expect.stringContaining(usage), err: "" });
});

test("the help of serve names every variable that the documentation does", async () => {
  const [, table] = /## Environment of the service\n([\s\S]*?)\n\n(?!\|)/.exec(CONFIGURATION) ?? [];
  const rows = [...(table ?? "").matchAll(/^\| (`.*?) \|/gm)].flatMap(([, names = ""]) => names.split(", "));
  const variables = rows
    .map((name) => name.replaceAll("`", ""))
    .filter((name) => name !== "POSTRIDER_NEW_SECRET");
  expect(variables).toHaveLength(13);
  const { out } = await spawned(["serve", "--help"]);
  for (const name of variables) expect(out).toMatch(new RegExp(`\\b${name}\\b`));
});

test("all options that are missing are named at once, and a misspelt one before them", async () => {
  const seeHelp = "Add --help to see the commands and options.";
  for (const [args, said] of [
    [["accounts", "create"], "required options '--name <name>', '--mode <mode>' not specified"],
    [["accounts", "create", "--name", "Acme"], "required option '--mode <mode>' not specified"],
    [["accounts", "create", "--nmae", "Acme"], "unknown option '--nmae'\n(Did you mean --name?)"],
    [["suppressions", "import"], "required options '--account <id>', '--file <path>' not specified"],
  ] as const)
    expect(await run(args)).toEqual({ code: 2, out: "", err: `error: ${said}\n${seeHelp}\n` });
  for (const [args, said] of [
    [["backup"], "required option '--to <folder>' not specified"],
    [["restore", "--form", "x"], "unknown option '--form'\n(Did you mean --from?)"],
    [["listen"], "required option '--forward-to <url>' not specified"],
  ] as const)
    expect(await spawned(args)).toEqual({ code: 2, out: "", err: `error: ${said}\n${seeHelp}\n` });
});

test("no command has options that Commander asks for by itself", () => {
  const program = new Command();
  addCommands(program, "0");
  const all = (command: Command): readonly Command[] => [command, ...command.commands.flatMap(all)];
  const asked = all(program).flatMap(({ options }) => options.filter(({ mandatory }) => mandatory));
  expect(asked.map(({ flags }) => flags)).toEqual([]);
});
