/** A DATABASE_URL that is none: each command that works on the database itself names the variable. */
import { afterAll, expect, test } from "bun:test";
import { join } from "node:path";
import { makeDataFolder } from "../postrider-process.ts";
import { typeInto } from "./typed-commands.ts";

const folder = makeDataFolder();
const { spawned } = typeInto(folder.path);
afterAll(folder.remove);

test.each([
  [["backup", "--to", join(folder.path, "x")]],
  [["restore", "--from", join(folder.path, "x")]],
  [["rotate-key"]],
])("%p says which variable is wrong, and shows none of it", async (args) => {
  const { code, err } = await spawned(args, { DATABASE_URL: "mysql://u:hidden@h/d" });
  expect([code, err]).toEqual([
    1,
    expect.stringMatching(/^error: DATABASE_URL: expected postgres:\/\/[^\n]+\n$/),
  ]);
  expect(err).not.toContain("hidden");
});
