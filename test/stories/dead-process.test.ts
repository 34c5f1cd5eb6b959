/**
 * Of two processes on one PostgreSQL one dies, or stands still, with messages that it has claimed. It is declared dead after 12 s,
 * and the other sends them, long before a lease would have run out.
 */
import { expect, test } from "bun:test";
import { fileURLToPath } from "node:url";
import { Client } from "pg";
import { admin, liveAccount, reached, send } from "../admin.ts";
import { startFakeDns } from "../fakes/fake-dns.ts";
import { startFakeSmsc } from "../fakes/fake-smsc.ts";
import { type RawSmtp, startFakeSmtp, startRawSmtp } from "../fakes/fake-smtp.ts";
import { BEHAVIOURS, startFakeWebhookReceiver } from "../fakes/fake-webhook-receiver.ts";
import { connectSmsc, openLiveSms } from "../live-sms.ts";
import { freshDatabase } from "../postgres-database.ts";
import {
  makeDataFolder,
  type PostriderProcess,
  type StartOptions,
  startPostrider,
} from "../postrider-process.ts";
import { until } from "../until.ts";
import { allowHooks, newestSecret, sendSms } from "../webhook-rig.ts";

/** Declared dead after 12 s and a heartbeat, and then found and sent. These leases would last 55 s and longer. */
const TAKEN_UP_MS = 45_000;

/** What one process may have on the wire. Nothing is answered before one of them is dead: each takes as much. */
const WINDOW = 3;

/** A database of a test's own, and what works on it; each test waits for a death to be declared, so they run side by side. */
async function openWorld() {
  const folder = makeDataFolder();
  const database = await freshDatabase();
  const client = new Client({ connectionString: database.url });
  await client.connect();
  const closing: (() => unknown)[] = [];
  return {
    client,
    closing,
    async start(options: StartOptions = {}): Promise<PostriderProcess> {
      const service = await startPostrider({
        dataFolder: folder.path,
        databaseUrl: database.url,
        ...options,
      });
      closing.push(() => {
        service.kill("SIGKILL");
        return service.exited;
      });
      return service;
    },
    async count(sql: string): Promise<number> {
      const { rows } = await client.query<{ count: string }>(`SELECT count(*) AS count FROM ${sql}`);
      return Number(rows[0]?.count);
    },
    async [Symbol.asyncDispose]() {
      for (const close of closing.toReversed()) await close();
      await client.end();
      await database.drop();
      folder.remove();
    },
  };
}

type World = Awaited<ReturnType<typeof openWorld>>;

test.concurrent("what a process had on the wire when it was killed is sent by another long before its lease would end, and nothing else again", async () => {
  await using world = await openWorld();
  const { closing, start } = world;
  const smsc = await startFakeSmsc({ receipts: "after", holdSubmits: true });
  closing.push(smsc.close);
  const one = await start();
  const two = await start({ sandbox: one.sandbox });
  const config = { binds: 2, window: WINDOW, response_timeout_ms: 10_000 };
  const live = await openLiveSms(one, { connectors: [await connectSmsc(one, smsc, config)] });
  await smsc.until(() => smsc.bound().length === 2);
  const numbers = Array.from({ length: 2 * WINDOW }, (_, at) => `44770090000${at}`);
  const messages = await Promise.all(numbers.map((number) => live.send(`+${number}`)));
  await smsc.until(() => smsc.submits.length === messages.length);

  two.kill("SIGKILL");
  const killedAt = performance.now();
  await smsc.until(() => smsc.bound().length === 1);
  smsc.release();
  for (const message of messages) {
    expect(await reached(one, message, "delivered", "failed")).toMatchObject({ status: "delivered" });
  }
  expect(performance.now() - killedAt).toBeLessThan(TAKEN_UP_MS);
  const times = Map.groupBy(smsc.submits, ({ destination }) => destination.address);
  const twice = [...times.values()].filter(({ length }) => length === 2);
  expect([times.size, twice.length, smsc.submits.length]).toEqual([2 * WINDOW, WINDOW, 3 * WINDOW]);
}, 180_000);

/** A live account whose email goes to this relay of the test's. */
async function openLiveEmail(
  { closing }: World,
  service: PostriderProcess,
  { host, port, close }: Pick<RawSmtp, "host" | "port" | "close">,
) {
  const dns = await startFakeDns();
  closing.push(close, dns.close);
  const { accountId, apiKey } = await liveAccount(service);
  const config = { host, port };
  const { connector_id } = await admin<{ connector_id: string }>(service, "/connectors", {
    kind: "smtp",
    config,
  });
  await admin(service, "/routes", { channel: "email", connector_ids: [connector_id] });
  await admin(service, "/settings/dns_servers", { value: dns.address }, "PUT");
  const domain = await admin<{ domain_id: string; records: { type: string; name: string; value: string }[] }>(
    service,
    "/domains",
    { account_id: accountId, domain: "acme.example" },
  );
  for (const { type, name, value } of domain.records) (type === "TXT" ? dns.txt : dns.cname).set(name, value);
  await admin(service, `/domains/${domain.domain_id}/verify`, {});
  return {
    async send(to: string) {
      const body = {
        from: { email: "hello@acme.example" },
        to: [{ email: to }],
        subject: "A code",
        body_text: "1",
      };
      const path = "/v1/emails/messages";
      const answer = await send(service, { apiKey, path, body });
      expect(answer.status).toBe(202);
      return { apiKey, path: `${path}/${answer.body.message_id}` };
    },
  };
}

test.concurrent("a process that stood still while it was declared dead does not begin to send what was taken from it", async () => {
  await using world = await openWorld();
  const { client, count, start } = world;
  const one = await start();
  const smtp = await startFakeSmtp();
  const { send } = await openLiveEmail(world, one, smtp);
  const [{ id = "" } = {}] = (await client.query<{ id: string }>("SELECT id FROM lease_processes")).rows;
  // Asked between the claim and the wire.
  await client.query("BEGIN; LOCK TABLE suppressions");
  const code = await send("ann@example.net");
  await until(() => count(WAITING), isSome);
  one.kill("SIGSTOP");
  await client.query("COMMIT");
  expect(await count(`jobs WHERE is_leased AND holder = '${id}'`)).toBe(1);
  const stoppedAt = performance.now();

  const two = await start({ sandbox: one.sandbox });
  expect(await reached(two, code, "sent", "failed")).toMatchObject({ status: "sent" });
  expect(performance.now() - stoppedAt).toBeLessThan(TAKEN_UP_MS);
  expect(await count(`lease_processes WHERE id = '${id}'`)).toBe(0);

  one.kill("SIGCONT");
  await until(() => count(`lease_processes WHERE id = '${id}'`), isSome);
  two.kill("SIGTERM");
  expect(await two.exited).toBe(0);
  // It works on, and its next message comes after whatever it had to say about the other.
  expect(await reached(one, await send("bob@example.net"), "sent", "failed")).toMatchObject({
    status: "sent",
  });
  expect(smtp.received.map(({ to }) => to[0])).toEqual(["ann@example.net", "bob@example.net"]);
}, 180_000);

/** The process that is stopped, and with what it is started. */
const STOPPED: readonly (readonly [which: string, how: StartOptions])[] = [
  ["a process that stood still", {}],
  [
    "a process whose machine was asleep",
    { preload: fileURLToPath(new URL("../fakes/asleep-clock.ts", import.meta.url)) },
  ],
];

for (const [which, how] of STOPPED) {
  test.concurrent(`${which} while it was declared dead does not hand over the emails that it had announced`, async () => {
    await using world = await openWorld();
    const { client, closing, count, start } = world;
    const held = Promise.withResolvers<undefined>();
    closing.push(() => held.resolve(undefined));
    let handedOver = 0;
    const relay = await startRawSmtp((verb, _, connection) => {
      if (verb === "DOT") handedOver++;
      // The first of two connections takes commands one by one; on the second, DATA has gone with the others.
      if (verb === "EHLO" && connection === 2) return "250-raw.test\r\n250 PIPELINING";
      return verb === "RCPT" && connection <= 2 ? held.promise : undefined;
    });
    const one = await start(how);
    const { send } = await openLiveEmail(world, one, relay);
    const [{ id = "" } = {}] = (await client.query<{ id: string }>("SELECT id FROM lease_processes")).rows;
    const codes = await Promise.all(["ann@example.net", "bob@example.net"].map(send));
    await Promise.all(["ann", "bob"].map((name) => relay.heard(`RCPT TO:<${name}`)));
    one.kill("SIGSTOP");

    const two = await start({ sandbox: one.sandbox });
    for (const code of codes) {
      expect(await reached(two, code, "sent", "failed")).toMatchObject({ status: "sent" });
    }
    // It finds the relay's leave to go on in its sockets.
    held.resolve(undefined);
    one.kill("SIGCONT");
    await until(() => count(`lease_processes WHERE id = '${id}'`), isSome);
    two.kill("SIGTERM");
    expect(await two.exited).toBe(0);
    expect(await reached(one, await send("eve@example.net"), "sent", "failed")).toMatchObject({
      status: "sent",
    });
    expect(handedOver).toBe(3);
  }, 180_000);

  test.concurrent(`${which} in the middle of a long message while it was declared dead sends none of the rest`, async () => {
    await using world = await openWorld();
    const { client, closing, count, start } = world;
    const smsc = await startFakeSmsc({ receipts: "after", holdSubmits: true });
    closing.push(smsc.close);
    const one = await start(how);
    const connectors = [await connectSmsc(one, smsc, { window: 1 })];
    const live = await openLiveSms(one, { connectors, body: "x".repeat(200) });
    await smsc.until(() => smsc.bound().length === 1);
    const [{ id = "" } = {}] = (await client.query<{ id: string }>("SELECT id FROM lease_processes")).rows;
    const long = await live.send("+447700900001");
    await smsc.until(() => smsc.submits.length === 1);
    one.kill("SIGSTOP");

    const two = await start({ sandbox: one.sandbox });
    await smsc.until(() => smsc.submits.length === 2);
    smsc.release();
    expect(await reached(two, long, "delivered", "failed")).toMatchObject({ status: "delivered" });
    one.kill("SIGCONT");
    await until(() => count(`lease_processes WHERE id = '${id}'`), isSome);
    two.kill("SIGTERM");
    expect(await two.exited).toBe(0);
    // Its next message comes after whatever it had left to send of the other.
    expect(await reached(one, await live.send("+447700900002"), "delivered", "failed")).toMatchObject({
      status: "delivered",
    });
    expect(smsc.submits.map(({ destination }) => destination.address)).toEqual([
      ...Array(3).fill("447700900001"),
      ...Array(2).fill("447700900002"),
    ]);
  }, 180_000);
}

test.concurrent("a webhook that a process was delivering when it was killed is delivered by another long before its lease would end", async () => {
  await using world = await openWorld();
  const { closing, start } = world;
  const [dns, one] = await Promise.all([startFakeDns(), start()]);
  dns.a.set("*", ["127.0.0.1"]);
  await allowHooks(one, dns.address);
  const receiver = await startFakeWebhookReceiver({ secret: await newestSecret(one) });
  closing.push(receiver.close, dns.close);
  receiver.behave(BEHAVIOURS.silent);
  await sendSms(one, { callback_url: receiver.url() });
  await receiver.arrived(1);
  one.kill("SIGKILL");
  const killedAt = performance.now();
  receiver.behave(BEHAVIOURS.ok);
  await start({ sandbox: one.sandbox });
  await receiver.arrived(2);
  expect(performance.now() - killedAt).toBeLessThan(TAKEN_UP_MS);
  const [lost, again] = receiver.deliveries.map(({ headers }) => headers["webhook-id"]);
  expect(again).toBe(lost!);
}, 180_000);

test.concurrent("where no process that delivers is left, a message that one had on the wire still ends with its window", async () => {
  await using world = await openWorld();
  const { closing, start } = world;
  const smsc = await startFakeSmsc({ holdSubmits: true });
  closing.push(smsc.close);
  const rest = await start({ args: ["--roles", "api,upkeep"] });
  const delivering = await start({ sandbox: rest.sandbox, args: ["--roles", "delivery"] });
  const live = await openLiveSms(rest, { connectors: [await connectSmsc(rest, smsc)] });
  await smsc.until(() => smsc.bound().length === 1);
  const message = await live.send("+447700900099", { expire_after_seconds: 10 });
  await smsc.until(() => smsc.submits.length === 1);
  delivering.kill("SIGKILL");
  const ended = await reached(rest, message, "failed", "expired", "sent");
  expect([ended.status, (await live.timeline(message)).at(-1)?.error?.code]).toEqual([
    "failed",
    "unconfirmed",
  ]);
}, 180_000);

const isSome = (count: number) => count > 0;

const WAITING = `pg_locks WHERE NOT granted AND locktype = 'relation' AND relation = 'suppressions'::regclass
  AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`;
