/** Which databases on PostgreSQL a backup is made of, and restored into, while no service is at work on them. */
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "bun:test";
import { cpSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Client } from "pg";
import { send } from "../admin.ts";
import { holdChange } from "../fakes/held-table.ts";
import { copyOf, freshDatabase } from "../postgres-database.ts";
import type { TestDatabase } from "../postgres-server.ts";
import {
  makeDataFolder,
  onPostgres,
  runPostrider,
  startCommand,
  startPostrider,
} from "../postrider-process.ts";
import { BARE, tablesAfter } from "../tables-after.ts";
import { until } from "../until.ts";

/** Of a service that was stopped after its first message; made once, as is `backup`. */
let original: TestDatabase;
let folder: ReturnType<typeof makeDataFolder>;

/** A copy of it. */
let database: TestDatabase;
let other: TestDatabase;
/** Where a test's backup is. */
let copy: string;
let count = 0;

const backup = () => join(folder.path, "copy-0");

beforeAll(async () => {
  folder = makeDataFolder();
  original = await freshDatabase();
  const service = await startPostrider({ dataFolder: folder.path, databaseUrl: original.url });
  const body = { to: "+919876543210", dlt_template_id: "1107160000000000001" };
  const answer = await send(service, { apiKey: service.sandbox.api_key, path: "/v1/sms/messages", body });
  expect(answer.status).toBe(202);
  service.kill("SIGTERM");
  await service.exited;
  copy = backup();
  expect((await run("backup", original.url)).code).toBe(0);
}, 120_000);

beforeEach(async () => {
  copy = join(folder.path, `copy-${++count}`);
  [database, other] = await Promise.all([copyOf(original), freshDatabase()]);
});

afterEach(() => Promise.all([database.drop(), other.drop()]));

afterAll(async () => {
  folder.remove();
  await original.drop();
});

const useBackup = () => cpSync(backup(), copy, { recursive: true });

function run(command: "backup" | "restore", databaseUrl: string, ...args: string[]) {
  const where = command === "backup" ? "--to" : "--from";
  return runPostrider({ dataFolder: folder.path, databaseUrl, command, args: [where, copy, ...args] });
}

test("the files of a backup are for their owner only, and a damaged one, another key and a database in use are refused", async () => {
  for (const name of readdirSync(backup())) expect(statSync(join(backup(), name)).mode & 0o777).toBe(0o600);
  useBackup();
  const inUse = await run("restore", database.url);
  expect(inUse).toMatchObject({ code: 1, output: expect.stringContaining("nothing is overwritten") });
  const { DATABASE_URL } = onPostgres(other.url);
  const wrongKey = await runPostrider({
    dataFolder: folder.path,
    command: "restore",
    env: { DATABASE_URL: DATABASE_URL ?? "", POSTRIDER_SECRET: "another secret of some length" },
    args: ["--from", copy],
  });
  expect(wrongKey).toMatchObject({ code: 1, output: expect.stringContaining("master key") });
  const path = join(copy, "messages.jsonl.gz");
  const octets = readFileSync(path);
  octets[octets.length - 6]! ^= 1;
  writeFileSync(path, octets);
  expect((await run("restore", other.url)).output).toContain("is damaged");
});

test("a restore that is cut off leaves nothing that starts, and may be done again", async () => {
  expect((await run("backup", database.url, "--with-key")).code).toBe(0);
  const held = await holdChange(other.url, "BEFORE INSERT ON messages FOR EACH STATEMENT");
  const cut = startCommand({
    dataFolder: folder.path,
    databaseUrl: other.url,
    command: "restore",
    args: ["--from", copy],
  });
  await cut.line(/accounts: /);
  cut.kill("SIGKILL");
  await cut.exited;
  await held.letGo();
  const half = await runPostrider({ dataFolder: folder.path, databaseUrl: other.url });
  expect(half).toMatchObject({ code: 1, output: expect.stringContaining("run migrate-to or restore again") });
  expect((await run("restore", other.url)).code).toBe(0);
});

test("a database that a restore refuses is left as it was, without a schema; one that has none is taken", async () => {
  useBackup();
  const inUse = `${BARE} CREATE TABLE accounts (id text); INSERT INTO accounts VALUES ('one')`;
  expect(await tablesAfter(other.url, inUse)).toEqual(["accounts"]);
  expect((await run("restore", other.url)).output).toContain("nothing is overwritten");
  expect(await tablesAfter(other.url, "")).toEqual(["accounts"]);

  const another = `${BARE} CREATE TABLE migrations (number int, name text, checksum text);
  INSERT INTO migrations VALUES (1, 'another', 'another')`;
  expect(await tablesAfter(other.url, another)).toEqual(["migrations"]);
  expect((await run("restore", other.url)).output).toContain("another schema than the backup");
  expect(await tablesAfter(other.url, "")).toEqual(["migrations"]);

  expect(await tablesAfter(other.url, BARE)).toEqual([]);
  const path = join(copy, "backup.json");
  const manifest = JSON.parse(readFileSync(path, "utf8"));
  const { migrations } = manifest.postgres;
  const later = [...migrations, { number: 900, name: "0900_later", checksum: "later" }];
  writeFileSync(path, JSON.stringify({ ...manifest, postgres: { ...manifest.postgres, migrations: later } }));
  expect((await run("restore", other.url)).output).toContain("made by a newer program");
  expect(await tablesAfter(other.url, "")).toEqual([]);

  writeFileSync(path, JSON.stringify(manifest));
  expect(await run("restore", other.url)).toMatchObject({ code: 0 });
});

test("a restore waits for a service that is just making its first account, and leaves it the database", async () => {
  useBackup();
  const client = new Client({ connectionString: other.url });
  await client.connect();
  await client.query(`BEGIN; LOCK accounts IN SHARE ROW EXCLUSIVE MODE;
  INSERT INTO accounts (id, name, mode, created_at) VALUES (gen_random_uuid(), 'first', 'sandbox', 0)`);
  const restored = run("restore", other.url);
  const waits = "SELECT 1 FROM pg_locks WHERE relation = 'accounts'::regclass AND NOT granted";
  await until(async () => (await client.query(waits)).rowCount);
  await client.query("COMMIT");
  expect(await restored).toMatchObject({
    code: 1,
    output: expect.stringContaining("nothing is overwritten"),
  });
  expect((await client.query("SELECT name FROM accounts")).rows).toEqual([{ name: "first" }]);
  await client.end();
});

test("tables of others in the database are left out of a backup, which can be restored", async () => {
  const client = new Client({ connectionString: database.url });
  await client.connect();
  await client.query('CREATE TABLE messages_copy20261122 AS SELECT id AS "Of" FROM messages');
  await client.end();
  expect((await run("backup", database.url)).code).toBe(0);
  expect(readdirSync(copy).filter((name) => name.includes("copy"))).toEqual([]);
  expect(await run("restore", other.url)).toMatchObject({ code: 0 });
});

test("a schema whose name has to be quoted is restored into, and backed up, like any other", async () => {
  useBackup();
  await tablesAfter(other.url, 'CREATE SCHEMA "Our.Mail"');
  const url = `${other.url}?options=${encodeURIComponent('-c search_path="Our.Mail"')}`;
  expect(await run("restore", url)).toMatchObject({ code: 0 });
  expect(await run("backup", url)).toMatchObject({
    code: 0,
    output: expect.stringMatching(/messages +1\n/),
  });
});

test("of a database that is half restored or half moved no backup is made", async () => {
  const client = new Client({ connectionString: database.url });
  await client.connect();
  await client.query("INSERT INTO meta (name, value) VALUES ('moving_from', 'somewhere')");
  await client.end();
  expect(await run("backup", database.url)).toMatchObject({
    code: 1,
    output: expect.stringContaining("half of it is missing"),
  });
});
