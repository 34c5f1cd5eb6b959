/** The PostgreSQL is gone, and what is left is a backup that was made while its service was at work. */
import { afterEach, beforeEach, expect, test } from "bun:test";
import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Client } from "pg";
import { admin, reached, send } from "../admin.ts";
import { startFakeDns } from "../fakes/fake-dns.ts";
import { startFakeSmsc } from "../fakes/fake-smsc.ts";
import { BEHAVIOURS, startFakeWebhookReceiver } from "../fakes/fake-webhook-receiver.ts";
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
import { until } from "../until.ts";
import { allowHooks } from "../webhook-rig.ts";

const SMS = "/v1/sms/messages";

let folder: ReturnType<typeof makeDataFolder>;
let service: PostriderProcess;
let database: TestDatabase;
let other: TestDatabase;

beforeEach(async () => {
  folder = makeDataFolder();
  [database, other] = await Promise.all([freshDatabase(), freshDatabase()]);
  service = await startPostrider({ dataFolder: folder.path, databaseUrl: database.url });
});

afterEach(async () => {
  service.kill("SIGKILL");
  await service.exited;
  folder.remove();
  await Promise.all([database.drop(), other.drop()]);
});

const copy = () => join(folder.path, "copy");

function run(command: "backup" | "restore", databaseUrl: string, ...args: string[]) {
  const where = command === "backup" ? "--to" : "--from";
  return runPostrider({ dataFolder: folder.path, databaseUrl, command, args: [where, copy(), ...args] });
}

async function sendOne(over: object = {}): Promise<string> {
  const body = { to: "+919876543210", dlt_template_id: "1107160000000000001", ...over };
  const answer = await send(service, { apiKey: service.sandbox.api_key, path: SMS, body });
  expect(answer.status).toBe(202);
  return String(answer.body.message_id);
}

const at = (id: string) => ({ apiKey: service.sandbox.api_key, path: `${SMS}/${id}` });

async function startLoad() {
  const answered: string[] = [];
  let isOver = false;
  const first = Promise.withResolvers<void>();
  const client = (async () => {
    while (!isOver) {
      answered.push(await sendOne({ metadata: { text: 'line\u2028end \ue000 \\ "' } }));
      if (answered.length === 20) first.resolve();
    }
  })();
  await Promise.race([first.promise, client]);
  const stop = async () => {
    isOver = true;
    await client;
  };
  return { answered, stop, [Symbol.asyncDispose]: stop };
}

test("a backup made under load holds every message answered 202 before it, wholly, and they are delivered from it", async () => {
  await using load = await startLoad();
  const before = load.answered.slice();
  const { account_id } = service.sandbox;
  const secrets = await admin(service, `/webhooks/secret?account_id=${account_id}`);
  const made = await run("backup", database.url);
  expect(made).toMatchObject({
    code: 0,
    output: expect.stringContaining("the master key is NOT in this backup"),
  });
  await load.stop();
  service.kill("SIGKILL");
  await service.exited;

  const restored = await run("restore", other.url);
  expect(restored).toMatchObject({ code: 0, output: expect.stringMatching(/messages +\d+/) });
  const { sandbox } = service;
  service = await startPostrider({ dataFolder: folder.path, databaseUrl: other.url, sandbox });
  for (const id of before) {
    expect(await reached(service, at(id), "delivered")).toMatchObject({
      metadata: { text: 'line\u2028end \ue000 \\ "' },
    });
  }
  await reached(service, at(await sendOne()), "delivered");
  expect(await admin(service, `/webhooks/secret?account_id=${account_id}`)).toEqual(secrets);
}, 60_000);

test("what was on its way when the backup was made is sent again at once, and waits for no lease", async () => {
  const [smsc, dns, receiver] = await Promise.all([
    startFakeSmsc({ receipts: "after", holdSubmits: true }),
    startFakeDns(),
    startFakeWebhookReceiver(),
  ]);
  dns.a.set("*", ["127.0.0.1"]);
  receiver.behave(BEHAVIOURS.silent);
  await allowHooks(service, dns.address);
  const live = await openLiveSms(service, { connectors: [await connectSmsc(service, smsc)] });
  const message = await live.send("+14155551911");
  await sendOne({ callback_url: receiver.url() });
  await Promise.all([smsc.until(() => smsc.submits.length === 1), receiver.arrived(1)]);
  expect((await run("backup", database.url)).code).toBe(0);
  service.kill("SIGKILL");
  await service.exited;
  smsc.dial.holdSubmits = false;
  receiver.behave(BEHAVIOURS.ok);

  expect(await run("restore", other.url)).toMatchObject({ code: 0 });
  const { sandbox } = service;
  service = await startPostrider({ dataFolder: folder.path, databaseUrl: other.url, sandbox });
  const entries = async () =>
    (
      await admin<{ data: { kind: string }[] }>(
        service,
        `/messages/sms/${message.path.split("/").at(-1)}/timeline?account_id=${live.accountId}`,
      )
    ).data;
  // A lease would last for a minute, and that of the SMS for longer.
  await Promise.all([reached(service, message, "delivered"), receiver.arrived(2)]);
  expect((await entries()).map(({ kind }) => kind)).toEqual(["interrupted", "attempt", "receipt"]);
  const [first, second] = receiver.deliveries;
  expect(second?.headers["webhook-id"]).toBe(String(first?.headers["webhook-id"]));
  await Promise.all([smsc.close(), dns.close(), receiver.close()]);
}, 60_000);

test("a restored service that starts beside the original says at once that both send; one that only answers does not", async () => {
  // At its very first start there is nothing yet that a copy could be known by.
  service.kill("SIGTERM");
  await service.exited;
  const { sandbox } = service;
  service = await startPostrider({ dataFolder: folder.path, databaseUrl: database.url, sandbox });
  expect((await run("backup", database.url)).code).toBe(0);
  expect((await run("restore", other.url)).code).toBe(0);
  const startBeside = (...args: string[]) =>
    startPostrider({ dataFolder: join(folder.path, "beside"), databaseUrl: other.url, sandbox, args });
  const answering = await startBeside("--roles", "api");
  const sending = await startBeside();
  const said = await sending.line(/copy of this database/);
  expect(JSON.parse(said)).toMatchObject({
    level: "warn",
    databases: [new URL(database.url).pathname.slice(1)],
    msg: "a copy of this database is at work too, and sends the same messages: stop one of them",
  });
  expect(answering.output()).not.toContain("copy of this database");
  for (const each of [answering, sending]) each.kill("SIGTERM");
  expect(await Promise.all([answering.exited, sending.exited])).toEqual([0, 0]);
}, 60_000);

test("its files are for their owner only, and a damaged one, another key and a database in use are refused", async () => {
  await sendOne();
  expect((await run("backup", database.url)).code).toBe(0);
  for (const name of readdirSync(copy())) expect(statSync(join(copy(), name)).mode & 0o777).toBe(0o600);
  const inUse = await run("restore", database.url);
  expect(inUse).toMatchObject({ code: 1, output: expect.stringContaining("nothing is overwritten") });
  const { DATABASE_URL } = onPostgres(other.url);
  const wrongKey = await runPostrider({
    dataFolder: folder.path,
    command: "restore",
    env: { DATABASE_URL: DATABASE_URL ?? "", POSTRIDER_SECRET: "another secret of some length" },
    args: ["--from", copy()],
  });
  expect(wrongKey).toMatchObject({ code: 1, output: expect.stringContaining("master key") });
  const path = join(copy(), "messages.jsonl.gz");
  const octets = readFileSync(path);
  octets[octets.length - 6]! ^= 1;
  writeFileSync(path, octets);
  expect((await run("restore", other.url)).output).toContain("is damaged");
});

test("a restore that is cut off leaves nothing that starts, and may be done again", async () => {
  await sendOne();
  expect((await run("backup", database.url, "--with-key")).code).toBe(0);
  const held = await holdChange(other.url, "BEFORE INSERT ON messages FOR EACH STATEMENT");
  const cut = startCommand({
    dataFolder: folder.path,
    databaseUrl: other.url,
    command: "restore",
    args: ["--from", copy()],
  });
  await cut.line(/accounts: /);
  cut.kill("SIGKILL");
  await cut.exited;
  await held.letGo();
  const half = await runPostrider({ dataFolder: folder.path, databaseUrl: other.url });
  expect(half).toMatchObject({ code: 1, output: expect.stringContaining("again") });
  expect((await run("restore", other.url)).code).toBe(0);
});

test("a database that a restore refuses is left as it was, without a schema; one that has none is taken", async () => {
  expect((await run("backup", database.url)).code).toBe(0);
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
  const path = join(copy(), "backup.json");
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
  expect((await run("backup", database.url)).code).toBe(0);
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

test("a day that is being swapped when a backup begins is in it as it is afterwards", async () => {
  await sendOne();
  const client = new Client({ connectionString: database.url });
  await client.connect();
  await client.query(`BEGIN; LOCK messages; CREATE TEMP TABLE kept AS SELECT * FROM messages;
    TRUNCATE messages; INSERT INTO messages SELECT * FROM kept`);
  const made = run("backup", database.url);
  // The service waits too, but has no lock on that other table.
  const waits = `SELECT 1 FROM pg_locks w JOIN pg_locks h USING (pid)
    WHERE w.relation = 'messages'::regclass AND NOT w.granted AND h.relation = 'dlt_entities'::regclass`;
  await until(async () => (await client.query(waits)).rowCount);
  await client.query("COMMIT");
  await client.end();
  expect(await made).toMatchObject({ code: 0, output: expect.stringMatching(/messages +1\n/) });
});

test("tables of others in the database are left out of a backup, which can be restored", async () => {
  const client = new Client({ connectionString: database.url });
  await client.connect();
  await client.query('CREATE TABLE messages_copy20261122 AS SELECT id AS "Of" FROM messages');
  await client.end();
  expect((await run("backup", database.url)).code).toBe(0);
  expect(readdirSync(copy()).filter((name) => name.includes("copy"))).toEqual([]);
  expect(await run("restore", other.url)).toMatchObject({ code: 0 });
});

test("a schema whose name has to be quoted is restored into, and backed up, like any other", async () => {
  await sendOne();
  expect(await run("backup", database.url)).toMatchObject({ code: 0 });
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
