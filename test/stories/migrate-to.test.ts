/** A service has outgrown its machine, and moves from SQLite into PostgreSQL. */
import { afterEach, beforeEach, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { Client } from "pg";
import { admin, reached, send } from "../admin.ts";
import { startFakeSmsc } from "../fakes/fake-smsc.ts";
import { holdChange } from "../fakes/held-table.ts";
import { connectSmsc, openLiveSms } from "../live-sms.ts";
import { freshDatabase } from "../postgres-database.ts";
import type { TestDatabase } from "../postgres-server.ts";
import {
  makeDataFolder,
  onPostgres,
  type PostriderProcess,
  runPostrider,
  startCommand,
  startPostrider,
} from "../postrider-process.ts";
import { BARE, tablesAfter } from "../tables-after.ts";

const SMS = "/v1/sms/messages";
const ONE = { to: "+919876543210", dlt_template_id: "1107160000000000001" };

let folder: ReturnType<typeof makeDataFolder>;
let service: PostriderProcess;
let database: TestDatabase;
let env: Readonly<Record<string, string>>;

beforeEach(async () => {
  folder = makeDataFolder();
  database = await freshDatabase();
  const { DATABASE_URL: _, ...secret } = onPostgres(database.url);
  env = secret;
  service = await startPostrider({ dataFolder: folder.path, env });
});

afterEach(async () => {
  service.kill("SIGKILL");
  await service.exited;
  folder.remove();
  await database.drop();
});

const migrateTo = (...args: string[]) =>
  runPostrider({ dataFolder: folder.path, command: "migrate-to", env, args });

async function stop(): Promise<void> {
  service.kill("SIGTERM");
  await service.exited;
}

async function startOnPostgres(): Promise<void> {
  const { sandbox } = service;
  service = await startPostrider({ dataFolder: folder.path, databaseUrl: database.url, sandbox });
}

async function post(path: string, body: unknown, key?: string): Promise<Response> {
  const { api_key } = service.sandbox;
  return fetch(service.url + path, {
    method: "POST",
    headers: {
      Authorization: `Bearer ${api_key}`,
      "Content-Type": "application/json",
      ...(key && { "Idempotency-Key": key }),
    },
    body: JSON.stringify(body),
  });
}

async function get(path: string): Promise<Record<string, unknown>> {
  const headers = { Authorization: `Bearer ${service.sandbox.api_key}` };
  return (await (await fetch(service.url + path, { headers })).json()) as Record<string, unknown>;
}

async function sendOne(over: object = {}, path = SMS): Promise<string> {
  const { status, body } = await send(service, {
    apiKey: service.sandbox.api_key,
    path,
    body: { ...ONE, ...over },
  });
  expect(status).toBe(202);
  return String(body.message_id);
}

const at = (id: string) => ({ apiKey: service.sandbox.api_key, path: `${SMS}/${id}` });

test("every message, answer, event and secret moves, and what was unfinished is delivered from there", async () => {
  const delivered = await sendOne({ metadata: { note: "a \ue000 in it" } });
  await reached(service, at(delivered), "delivered");
  const kept = await post(SMS, ONE, "a key that is repeated");
  const answer = await kept.text();
  const scheduled = await sendOne({ schedule_at: new Date(Date.now() + 3_600_000).toISOString() });
  const waiting = await sendOne({ to: "+919000000003" });
  const events = await get("/v1/events?limit=2");
  const { account_id } = service.sandbox;
  const secrets = await admin(service, `/webhooks/secret?account_id=${account_id}`);
  await stop();

  const moved = await migrateTo(database.url);
  expect(moved).toMatchObject({
    code: 0,
    output: expect.stringMatching(/messages, status scheduled +1 +1\n/),
  });
  await startOnPostgres();
  expect(await get(`${SMS}/${delivered}`)).toMatchObject({
    status: "delivered",
    metadata: { note: "a \ue000 in it" },
  });
  expect(await (await post(SMS, ONE, "a key that is repeated")).text()).toBe(answer);
  expect(await get(`${SMS}/${scheduled}`)).toMatchObject({ status: "scheduled" });
  await reached(service, at(waiting), "delivered");
  await reached(service, at(await sendOne()), "delivered");
  expect(await get("/v1/events?limit=2")).toEqual(events);
  const later = (await get(`/v1/events?limit=100&after=${events.next}`)).data as { id: string }[];
  expect(new Set(later.map(({ id }) => id)).size).toBe(later.length);
  expect(later.length).toBeGreaterThan(2);
  expect(await admin(service, `/webhooks/secret?account_id=${account_id}`)).toEqual(secrets);
  // What is numbered goes on behind what has moved.
  await admin(service, "/accounts", { name: "later", mode: "live" });
});

test("a move of which a row does not arrive is refused in the end, and the service can go on where it was", async () => {
  await reached(service, at(await sendOne()), "delivered");
  await stop();
  const client = new Client({ connectionString: database.url });
  await client.connect();
  await client.query(`CREATE FUNCTION swallow() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END';
    CREATE TRIGGER swallow BEFORE INSERT ON sandbox_messages FOR EACH ROW EXECUTE FUNCTION swallow()`);
  await client.end();
  const { code, output } = await migrateTo(database.url);
  expect([code, output]).toEqual([
    1,
    expect.stringContaining("sandbox_messages: 1 in SQLite, 0 in PostgreSQL"),
  ]);
  expect(await runPostrider({ dataFolder: folder.path, databaseUrl: database.url })).toMatchObject({
    code: 1,
  });
  service = await startPostrider({ dataFolder: folder.path, env });
  await reached(service, at(await sendOne()), "delivered");
});

test("what was on its way when the service was killed leaves from there at once, without a wait for its lease", async () => {
  const smsc = await startFakeSmsc({ receipts: "after", holdSubmits: true });
  const live = await openLiveSms(service, { connectors: [await connectSmsc(service, smsc)] });
  const message = await live.send("+14155551301");
  await smsc.until(() => smsc.submits.length === 1);
  service.kill("SIGKILL");
  await service.exited;
  expect(await migrateTo(database.url)).toMatchObject({ code: 0 });
  smsc.dial.holdSubmits = false;
  await startOnPostgres();
  await reached(service, message, "delivered");
  expect(smsc.submits).toHaveLength(2);
  await smsc.close();
});

test("nothing starts on the data folder any more, unless the operator goes back", async () => {
  await sendOne();
  await stop();
  await migrateTo(database.url);
  const refused = await runPostrider({ dataFolder: folder.path, env });
  expect(refused).toMatchObject({ code: 1, output: expect.stringContaining("was moved to PostgreSQL") });
  expect(await migrateTo(database.url)).toMatchObject({ code: 1 });
  expect(await migrateTo("--cancel")).toMatchObject({ code: 0 });
  service = await startPostrider({ dataFolder: folder.path, env });
});

test("a move that is killed goes on where it was, and nothing starts on half of it", async () => {
  const to = Array.from({ length: 1_000 }, (_, index) => `+91${9_000_000_100 + index}`);
  const schedule_at = new Date(Date.now() + 3_600_000).toISOString();
  for (let batch = 0; batch < 12; batch++)
    expect((await post(SMS, { ...ONE, to, schedule_at })).status).toBe(202);
  await stop();

  const held = await holdChange(database.url, "BEFORE INSERT ON jobs FOR EACH STATEMENT");
  const first = startCommand({ dataFolder: folder.path, command: "migrate-to", env, args: [database.url] });
  await first.line(/messages: /);
  first.kill("SIGKILL");
  await first.exited;
  await held.letGo();
  const client = new Client({ connectionString: database.url });
  await client.connect();
  const { rows } = await client.query("SELECT count(*)::int AS rows FROM jobs");
  await client.end();
  expect(rows[0].rows).toBe(0);
  const half = await runPostrider({ dataFolder: folder.path, databaseUrl: database.url });
  expect(half).toMatchObject({ code: 1, output: expect.stringContaining("run migrate-to or restore again") });

  const second = await migrateTo(database.url);
  expect(second).toMatchObject({ code: 0, output: expect.stringMatching(/jobs +12,000 +12,000\n/) });
});

test("a move that is killed before its last word leaves nothing that starts, and the next one says it", async () => {
  const id = await sendOne();
  await reached(service, at(id), "delivered");
  await stop();
  // The mark on the copy goes last, when the original has its own.
  const held = await holdChange(
    database.url,
    "AFTER DELETE ON meta FOR EACH ROW WHEN (OLD.name = 'moving_from')",
  );
  const first = startCommand({ dataFolder: folder.path, command: "migrate-to", env, args: [database.url] });
  await held.waitedFor();
  first.kill("SIGKILL");
  await first.exited;
  await held.letGo();
  const original = await runPostrider({ dataFolder: folder.path, env });
  expect(original).toMatchObject({ code: 1, output: expect.stringContaining("was moved to PostgreSQL") });
  const copy = await runPostrider({ dataFolder: folder.path, databaseUrl: database.url });
  expect(copy).toMatchObject({ code: 1, output: expect.stringContaining("run migrate-to or restore again") });

  expect(await migrateTo(database.url)).toMatchObject({ code: 0 });
  await startOnPostgres();
  expect(await get(`${SMS}/${id}`)).toMatchObject({ status: "delivered" });
});

/** Kills a move of a scheduled message when everything but its job has arrived. */
async function cutOff(): Promise<void> {
  await sendOne({ schedule_at: new Date(Date.now() + 3_600_000).toISOString() });
  await stop();
  const held = await holdChange(database.url, "BEFORE INSERT ON jobs FOR EACH STATEMENT");
  const first = startCommand({ dataFolder: folder.path, command: "migrate-to", env, args: [database.url] });
  await held.waitedFor();
  first.kill("SIGKILL");
  await first.exited;
  await held.letGo();
}

test("what a service has changed since its move was cut off is not taken for moved", async () => {
  await cutOff();
  service = await startPostrider({ dataFolder: folder.path, env });
  await stop();
  const next = await migrateTo(database.url);
  expect(next).toMatchObject({ code: 1, output: expect.stringContaining("the service has run since") });
});

test("what was copied under the old master key is not taken for moved once the key has been changed", async () => {
  await cutOff();
  const keys = { ...env, POSTRIDER_NEW_SECRET: "the next secret, of some length" };
  await runPostrider({ dataFolder: folder.path, command: "rotate-key", env: keys });
  env = { POSTRIDER_SECRET: keys.POSTRIDER_NEW_SECRET };
  const next = await migrateTo(database.url);
  expect(next).toMatchObject({ code: 1, output: expect.stringContaining("or its master key was changed") });
});

test("a running service, a database in use and a wrong key are refused before anything is written", async () => {
  const running = await migrateTo(database.url);
  expect(running).toMatchObject({ code: 1, output: expect.stringContaining("another process is using it") });
  await stop();
  const other = await runPostrider({
    dataFolder: folder.path,
    command: "migrate-to",
    env: { POSTRIDER_SECRET: "another secret of some length" },
    args: [database.url],
  });
  expect(other).toMatchObject({ code: 1, output: expect.stringContaining("master key") });
  const used = makeDataFolder();
  service = await startPostrider({ dataFolder: used.path, databaseUrl: database.url });
  await stop();
  used.remove();
  expect(await migrateTo(database.url)).toMatchObject({
    code: 1,
    output: expect.stringContaining("move into an empty one"),
  });
});

test("what is refused is left as it was, without a schema; a database that has none is taken", async () => {
  await stop();
  const others = `${BARE} CREATE TABLE meta (name text, value text); INSERT INTO meta VALUES ('moving_from', 'another 1')`;
  expect(await tablesAfter(database.url, others)).toEqual(["meta"]);
  expect((await migrateTo(database.url)).output).toContain("a move of another database into this one");
  expect(await tablesAfter(database.url, "")).toEqual(["meta"]);

  const service = `${BARE} CREATE TABLE accounts (id text); INSERT INTO accounts VALUES ('one')`;
  expect(await tablesAfter(database.url, service)).toEqual(["accounts"]);
  expect((await migrateTo(database.url)).output).toContain("move into an empty one");
  expect(await tablesAfter(database.url, "")).toEqual(["accounts"]);

  expect(await tablesAfter(database.url, BARE)).toEqual([]);
  expect(await migrateTo(database.url)).toMatchObject({ code: 0 });
  expect(await tablesAfter(database.url, BARE)).toEqual([]);
  expect((await migrateTo(database.url)).output).toContain("was moved to PostgreSQL");
  expect(await tablesAfter(database.url, "")).toEqual([]);
});

test("what has moved is neither backed up nor given another key by mistake, without DATABASE_URL", async () => {
  await stop();
  expect(await migrateTo(database.url)).toMatchObject({ code: 0 });
  const copy = join(folder.path, "copy");
  for (const [command, ...args] of [["backup", "--to", copy], ["rotate-key"]] as const) {
    expect(await runPostrider({ dataFolder: folder.path, command, env, args })).toMatchObject({
      code: 1,
      output: expect.stringContaining("set DATABASE_URL, or go back with migrate-to --cancel"),
    });
  }
  expect(existsSync(copy)).toBe(false);
  await startOnPostgres();
});
