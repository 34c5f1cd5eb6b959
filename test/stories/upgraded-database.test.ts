/** A service that is started on the database of an older version. */
import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { randomBytes } from "node:crypto";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { createVault } from "../../src/store/vault.ts";
import { makeOlder, makeSlow, stepsIn } from "../older-folder.ts";
import { freshDatabase } from "../postgres-database.ts";
import { makeDataFolder, runPostrider, startCommand, startPostrider } from "../postrider-process.ts";
import { BARE, tablesAfter } from "../tables-after.ts";

/** The last migration of the older program, and those that have come since. */
const OLDER = 11;
const STEPS = [
  "0012_jobs_of_message",
  "0013_keys_in_order",
  "0014_interruptions",
  "0015_erasure_bounds",
  "0016_parts_over",
  "0017_opt_outs_by_recipient",
];
const NEWEST = OLDER + STEPS.length;

for (const args of [[], ["--store-thread"]]) {
  test(`a start that changes the schema says so before each step ${args}`, async () => {
    const folder = makeDataFolder();
    makeOlder(folder.path, OLDER);
    const options = { dataFolder: folder.path, args, env: { POSTRIDER_SECRET: "the older version's key" } };
    const upgraded = await startPostrider(options);
    expect(stepsIn(upgraded.output())).toEqual(STEPS.map((name, index) => [name, index + 1, STEPS.length]));
    upgraded.kill("SIGTERM");
    expect(await upgraded.exited).toBe(0);

    const again = await startPostrider(options);
    expect(stepsIn(again.output())).toEqual([]);
    again.kill("SIGKILL");
    await again.exited;
    folder.remove();
  });
}

for (const args of [[], ["--store-thread"], ["--listeners", "2"]]) {
  test(`a start that is stopped while it changes the schema ends within seconds, and has changed nothing ${args}`, async () => {
    const folder = makeDataFolder();
    makeOlder(folder.path, OLDER);
    const slow = makeSlow(folder.path);
    const options = { dataFolder: folder.path, args, env: { POSTRIDER_SECRET: "the older version's key" } };
    const stopped = startCommand({ ...options, command: "serve" });
    await stopped.line(/schema of this version/);
    stopped.kill("SIGTERM");
    expect(await stopped.exited).toBe(0);
    expect(stopped.output()).toContain('"msg":"stopped before it was ready"');

    slow.letGo();
    const again = await startPostrider(options);
    expect(stepsIn(again.output())).toHaveLength(STEPS.length);
    again.kill("SIGKILL");
    await again.exited;
    folder.remove();
  });
}

for (const [name, value, words] of [
  ["master_key_check", "of another key", "written under another master key"],
  ["moved_away_at", "1795880000000", "was moved to PostgreSQL"],
] as const) {
  test(`a start that is refused by ${name} leaves the schema to the older program`, async () => {
    const folder = makeDataFolder();
    makeOlder(folder.path, OLDER);
    const database = new Database(join(folder.path, "postrider.db"));
    database.run("INSERT INTO meta (name, value) VALUES (?, ?)", [name, value]);
    const env = { POSTRIDER_SECRET: "the older version's key" };
    const refused = await runPostrider({ dataFolder: folder.path, env });
    expect(refused).toEqual({ code: 1, output: expect.stringContaining(words) });
    expect(stepsIn(refused.output)).toEqual([]);
    expect(database.query("SELECT max(number) AS last FROM migrations").get()).toEqual({ last: OLDER });
    database.close();
    folder.remove();
  });
}

const OLD_KEY = "the older version's key";

/** As `makeOlder`, of a service that was started. */
function makeOlderService(folder: string): void {
  makeOlder(folder, OLDER);
  const database = new Database(join(folder, "postrider.db"));
  const { checkValue } = createVault({ masterKey: OLD_KEY, randomBytes });
  const ofService =
    "INSERT INTO meta (name, value) VALUES ('admin_token_digest', 'x'), ('master_key_check', ?)";
  database.run(ofService, [checkValue]);
  database.close();
}

function lastMigration(folder: string): number {
  const database = new Database(join(folder, "postrider.db"));
  const row = database.query<{ last: number }, []>("SELECT max(number) AS last FROM migrations").get();
  database.close();
  return Number(row?.last);
}

const TOLD = STEPS.map(
  (name, index) =>
    `changing the database to the schema of this version: ${name}, ${index + 1} of ${STEPS.length}`,
);

/** The commands that migrate, what they say in the end, and what a signal leaves that ends them meanwhile. */
const COMMANDS = {
  "rotate-key": {
    done: /all secrets in \S+ are now encrypted with the new master key/,
    left: "the key was not changed, and the schema only if all of its steps were done",
  },
  "migrate-to": {
    done: /all of \S+ is in PostgreSQL now/,
    left: "no service starts on the copy until it is complete: run the command again, and it goes on behind what is copied",
  },
} as const;

for (const [command, { done, left }] of Object.entries(COMMANDS)) {
  for (const [signal, code] of [
    ["SIGINT", 130],
    ["SIGTERM", 143],
  ] as const) {
    test(`${command} that ${signal} ends while it changes the schema has changed nothing in the data folder, and run again tells of each step`, async () => {
      const folder = makeDataFolder();
      makeOlderService(folder.path);
      const slow = makeSlow(folder.path);
      const { url, drop } = await freshDatabase();
      await tablesAfter(url, BARE);
      const run = {
        dataFolder: folder.path,
        command,
        args: command === "migrate-to" ? [url] : [],
        env: { POSTRIDER_SECRET: OLD_KEY },
      };
      const stopped = startCommand(run);
      await stopped.line(/schema of this version/);
      stopped.kill(signal);
      expect([await stopped.exited, stopped.output()]).toEqual([
        code,
        `${TOLD[0]}\nerror: ended by ${signal}: ${left}\n`,
      ]);
      expect(lastMigration(folder.path)).toBe(OLDER);
      expect(readdirSync(folder.path)).not.toContain("master.key.next");

      slow.letGo();
      const again = await runPostrider(run);
      expect(again).toEqual({ code: 0, output: expect.stringMatching(done) });
      expect(again.output.split("\n").filter((line) => line.includes("schema"))).toEqual(TOLD);
      expect(lastMigration(folder.path)).toBe(NEWEST);
      await drop();
      folder.remove();
    });
  }
}

test("a move to PostgreSQL that is refused leaves the schema to the older program, and one that is not takes it along", async () => {
  const folder = makeDataFolder();
  makeOlderService(folder.path);
  const env = { POSTRIDER_SECRET: OLD_KEY };
  const move = (url: string) =>
    runPostrider({ dataFolder: folder.path, command: "migrate-to", env, args: [url] });
  const nobody = await move("postgres://postrider@127.0.0.1:1/postrider");
  expect(nobody).toEqual({ code: 1, output: expect.stringContaining("cannot be reached") });
  const { url, drop } = await freshDatabase();
  await tablesAfter(url, `${BARE} CREATE TABLE accounts (id text); INSERT INTO accounts VALUES ('one')`);
  expect(await move(url)).toEqual({ code: 1, output: expect.stringContaining("move into an empty one") });
  expect(lastMigration(folder.path)).toBe(OLDER);

  await tablesAfter(url, BARE);
  expect(await move(url)).toMatchObject({ code: 0 });
  expect(lastMigration(folder.path)).toBe(NEWEST);
  await drop();
  folder.remove();
});

test("a first start makes the database without a word about its schema", async () => {
  const folder = makeDataFolder();
  const service = await startPostrider({ dataFolder: folder.path });
  expect(stepsIn(service.output())).toEqual([]);
  service.kill("SIGKILL");
  await service.exited;
  folder.remove();
});
