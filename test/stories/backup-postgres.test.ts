/** The PostgreSQL is gone, and what is left is a backup that was made while its service was at work. */
import { afterEach, beforeEach, expect, test } from "bun:test";
import { join } from "node:path";
import { Client } from "pg";
import { admin, reached, send } from "../admin.ts";
import { startFakeDns } from "../fakes/fake-dns.ts";
import { startFakeSmsc } from "../fakes/fake-smsc.ts";
import { BEHAVIOURS, startFakeWebhookReceiver } from "../fakes/fake-webhook-receiver.ts";
import { connectSmsc, openLiveSms } from "../live-sms.ts";
import { freshDatabase } from "../postgres-database.ts";
import type { TestDatabase } from "../postgres-server.ts";
import { makeDataFolder, type PostriderProcess, runPostrider, startPostrider } from "../postrider-process.ts";
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
}, 120_000);

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
}, 120_000);

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
}, 120_000);

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
