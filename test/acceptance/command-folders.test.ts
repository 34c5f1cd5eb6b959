/** Folders that are none, and places where nothing can be made: the commands on a data folder say what to do instead. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { chmodSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { placeMigrated } from "../migrated-folder.ts";
import { makeDataFolder, runPostrider } from "../postrider-process.ts";
import { typeInto } from "./typed-commands.ts";

const folder = makeDataFolder();
const data = join(folder.path, "data");
const file = join(folder.path, "notes.txt");
const backup = join(folder.path, "backup");
const { spawned } = typeInto(data);

beforeAll(async () => {
  mkdirSync(data);
  placeMigrated(data);
  writeFileSync(file, "mine");
  expect(await spawned(["backup", "--to", backup])).toMatchObject({ code: 0 });
});
afterAll(folder.remove);

test.each([
  [["backup", "--to", file], "--to <folder>"],
  [["backup", "--to", join(file, "deep", "in")], "--to <folder>"],
  [["backup", "--to", backup, "--data", file], "--data <folder>"],
  [["restore", "--from", file], "--from <folder>"],
  [["restore", "--from", backup, "--data", file], "--data <folder>"],
  [["rotate-key", "--data", file], "--data <folder>"],
  [["migrate-to", "postgres://h/d", "--data", file], "--data <folder>"],
])("%p names a file, and is told so", async (args, option) => {
  const { code, err } = await spawned(args);
  expect([code, err]).toEqual([2, expect.stringContaining(`${file} is a file: name a folder.`)]);
  expect(err).toContain(`option '${option}'`);
  expect(readFileSync(file, "utf8")).toBe("mine");
});

/** Longer than a name may be. */
const TOO_LONG = "x".repeat(300);

test("where no backup and no data folder can be made, one line says why and what to do", async () => {
  const made = await spawned(["backup", "--to", join(folder.path, TOO_LONG)]);
  expect([made.code, made.out, made.err]).toEqual([1, "", expect.stringMatching(ONE_LINE)]);
  expect(made.err).toContain("no backup can be made at");
  expect(made.err).toContain("name another place with --to");
  const restored = await spawned(["restore", "--from", backup, "--data", join(folder.path, TOO_LONG)]);
  expect([restored.code, restored.out, restored.err]).toEqual([1, "", expect.stringMatching(ONE_LINE)]);
  expect(restored.err).toContain("cannot be made or written");
  expect(readdirSync(folder.path).sort()).toEqual(["backup", "data", "notes.txt"]);
});

/** Root may read everything, unless it gives that up. */
const AS_USER = `[ "$(id -u)" != 0 ] || exec setpriv --bounding-set=-dac_override,-dac_read_search "$@"`;

test.each([
  ["postrider.db", 0o000],
  [".", 0o000],
] as const)(
  "a database that the user may not read, because of %s, is not taken for a missing one",
  async (name, mode) => {
    for (const [command = "", ...args] of [
      ["backup", "--to", backup],
      ["rotate-key"],
      ["migrate-to", "postgres://h/d"],
    ]) {
      chmodSync(join(data, name), mode);
      const { code, output } = await runPostrider({ dataFolder: data, command, args, before: AS_USER });
      chmodSync(join(data, name), 0o700);
      expect([code, output]).toEqual([1, expect.stringMatching(ONE_LINE)]);
      expect(output).toContain(`${join(data, "postrider.db")} cannot be read (EACCES`);
      expect(output).toContain("run this as the user that the service runs as");
    }
  },
);

test("a key file that the user may not read is named with what to do, as at a start", async () => {
  const file = join(data, "master.key");
  for (const [command = "", ...args] of [
    ["serve"],
    ["backup", "--to", backup, "--with-key"],
    ["rotate-key"],
  ]) {
    chmodSync(file, 0o000);
    const { code, output } = await runPostrider({ dataFolder: data, command, args, before: AS_USER });
    chmodSync(file, 0o600);
    expect([command, code]).toEqual([command, 1]);
    expect(output).toMatch(
      /^(error|postrider cannot start): \S+master\.key cannot be read \(EACCES.*\): make it a file of the user that runs this\n$/,
    );
  }
});

test("a POSTRIDER_DATA that is a file is named in one line too", async () => {
  for (const args of [["backup", "--to", backup], ["restore", "--from", backup], ["rotate-key"]]) {
    const { code, err } = await spawned(args, { POSTRIDER_DATA: file });
    expect([code, err]).toEqual([1, expect.stringMatching(ONE_LINE)]);
    expect(err).toContain("POSTRIDER_DATA");
  }
});

test("a folder without a backup is named by the file that is missing", async () => {
  const { code, err } = await spawned(["restore", "--from", data, "--data", join(folder.path, "new")]);
  expect([code, err]).toEqual([
    1,
    `error: ${data} holds no backup: there is no ${join(data, "backup.json")}\n`,
  ]);
});

const ONE_LINE = /^error: [^\n]+\n$/;
