/** A backup of a data folder in which something is missing or damaged. */
import { Database } from "bun:sqlite";
import { afterEach, beforeEach, expect, test } from "bun:test";
import { readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { makeDataFolder, runPostrider, startPostrider } from "../postrider-process.ts";

let folder: ReturnType<typeof makeDataFolder>;
let data = "";
let copy = "";

beforeEach(async () => {
  folder = makeDataFolder();
  data = join(folder.path, "data");
  copy = join(folder.path, "copies", "first");
  const service = await startPostrider({ dataFolder: data });
  service.kill("SIGTERM");
  await service.exited;
});

afterEach(() => folder.remove());

const backup = () =>
  runPostrider({ dataFolder: data, command: "backup", args: ["--to", copy, "--with-key"] });

test("a database that SQLite can copy but that is not whole makes no backup", async () => {
  const database = new Database(join(data, "postrider.db"));
  database.exec("PRAGMA foreign_keys = OFF; DELETE FROM accounts");
  database.close();
  const made = await backup();
  expect(made.code).toBe(1);
  expect(made.output).toContain(`${join(data, "postrider.db")} is damaged: `);
  expect(made.output).toContain("refers to rows that are not there");
  expect(readdirSync(join(folder.path, "copies"))).toEqual([]);
});

test("a folder without its sandbox.json makes a backup that has none, and is restored without", async () => {
  rmSync(join(data, "sandbox.json"));
  expect(await backup()).toMatchObject({ code: 0, output: expect.stringContaining("master key") });
  expect(readdirSync(copy).toSorted()).toEqual(["backup.json", "master.key", "postrider.db"]);
  const restored = join(folder.path, "restored");
  const args = ["--from", copy, "--data", restored];
  expect(await runPostrider({ dataFolder: data, command: "restore", args })).toMatchObject({ code: 0 });
  expect(readdirSync(restored)).not.toContain("sandbox.json");
});
