/** Mail hosts that cannot be connected to, or not once more. */
import { afterEach, expect, test } from "bun:test";
import { type RawAnswer, type RawSmtp, startRawSmtp } from "../../../../test/fakes/fake-smtp.ts";
import { type MxRig, openMxRig } from "../../../../test/fakes/mx-rig.ts";
import { outgoingEmail } from "../../../../test/fakes/smtp-relay.ts";
import { until } from "../../../../test/until.ts";

const closing: (() => unknown)[] = [];

afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

const SIGNAL = new AbortController().signal;
const UNREACHED = { parts: [{ kind: "deferred", error: { code: "4.4.1" } }], countsAsAttempt: true };
const DELIVERED = { parts: [{ kind: "sent", delivered: true }] };

/** It costs no attempt, and waits for its turn on the connections that there are. */
const BUSY = {
  parts: [{ kind: "deferred", error: { code: "mx.busy" }, retryAfterMs: 200, isOwnPace: true }],
  countsAsAttempt: false,
};

interface Domain {
  readonly rig: MxRig;
  readonly host: RawSmtp;
  send(domain?: string): ReturnType<MxRig["channel"]["send"]>;
}

type Answer = RawAnswer | Promise<RawAnswer>;

async function openDomain(
  greet: (connection: number) => Answer,
  answer: (verb: string, connection: number) => Answer = () => undefined,
  config = {},
): Promise<Domain> {
  const host = await startRawSmtp((verb, _, connection) =>
    verb === "GREETING" ? greet(connection) : answer(verb, connection),
  );
  closing.push(host.close);
  const rig = await openMxRig({ port: host.port, config });
  closing.push(rig.close);
  rig.host("example.test", "mx.example.test");
  const send = (domain = "example.test") =>
    rig.channel.send(outgoingEmail({ to: [{ email: `ann@${domain}` }] }), SIGNAL);
  return { rig, host, send };
}

test("mail to a host that could not be connected to is put off for 50 seconds, and nobody waits for the host", async () => {
  const { rig, host, send } = await openDomain((connection) => (connection === 1 ? "drop" : undefined));
  expect(await send()).toMatchObject(UNREACHED);
  await rig.clock.advance(49_000);
  expect(await send()).toMatchObject(UNREACHED);
  expect(host.connections()).toBe(1);
  await rig.clock.advance(1_000);
  expect(await send()).toMatchObject(DELIVERED);
});

test("after that one message tries the host, and the others are put off until it has been reached", async () => {
  const greeting = Promise.withResolvers<undefined>();
  const { rig, host, send } = await openDomain((connection) =>
    connection === 1 ? "drop" : greeting.promise,
  );
  await send();
  await rig.clock.advance(50_000);
  const trying = send();
  expect(await send()).toMatchObject(UNREACHED);
  expect(await send()).toMatchObject(UNREACHED);
  greeting.resolve(undefined);
  expect(await trying).toMatchObject(DELIVERED);
  expect(await send()).toMatchObject(DELIVERED);
  expect(host.connections()).toBe(2);
});

test("a host that is connected to just after another connection to it has failed holds no mail", async () => {
  const greetings = [Promise.withResolvers<"drop">(), Promise.withResolvers<undefined>()] as const;
  const hold = Promise.withResolvers<undefined>();
  const { host, send } = await openDomain(
    (connection) => greetings[connection - 1]?.promise,
    async (verb, connection) => (verb === "DOT" && connection === 2 ? await hold.promise : undefined),
  );
  const first = send();
  await until(() => host.connections() === 1);
  const second = send();
  await until(() => host.connections() === 2);
  greetings[0].resolve("drop");
  expect(await first).toMatchObject(UNREACHED);
  greetings[1].resolve(undefined);
  await host.heard("DATA");
  expect(await send()).toMatchObject(DELIVERED);
  expect(host.connections()).toBe(3);
  hold.resolve(undefined);
  expect(await second).toMatchObject(DELIVERED);
});

test("one message tries whether a host takes a new connection, though it answers over one that it has", async () => {
  const [hold, greeting] = [Promise.withResolvers<undefined>(), Promise.withResolvers<undefined>()];
  const { rig, host, send } = await openDomain(
    (connection) => [undefined, "drop" as const, greeting.promise][connection - 1],
    async (verb, connection) => {
      if (verb !== "DOT" || connection !== 1) return undefined;
      await hold.promise;
      return { lastWords: "250 ok, and good-bye" };
    },
  );
  const first = send();
  await host.heard("DATA");
  expect(await send()).toMatchObject(UNREACHED);
  await rig.clock.advance(50_000);
  const trying = send();
  await until(() => host.connections() === 3);
  hold.resolve(undefined);
  expect(await first).toMatchObject(DELIVERED);
  expect(await send()).toMatchObject(UNREACHED);
  expect(host.connections()).toBe(3);
  greeting.resolve(undefined);
  expect(await trying).toMatchObject(DELIVERED);
});

test("an attempt that was called off says nothing of a host: the next message tries it", async () => {
  const { rig, host, send } = await openDomain((connection) =>
    connection === 1 ? "drop" : connection === 2 ? "silence" : undefined,
  );
  await send();
  await rig.clock.advance(50_000);
  const cut = new AbortController();
  const trying = rig.channel.send(outgoingEmail({ to: [{ email: "ann@example.test" }] }), cut.signal);
  while (host.connections() < 2) await new Promise(setImmediate);
  cut.abort("stop");
  await trying;
  expect(await send()).toMatchObject(DELIVERED);
});

test("a host that greets and then says nothing keeps one message at a time waiting, until it has answered one", async () => {
  const said = Promise.withResolvers<undefined>();
  const { rig, host, send } = await openDomain(
    () => undefined,
    (verb, connection) => {
      if (verb !== "MAIL") return undefined;
      return connection === 1 ? "silence" : said.promise;
    },
    { response_timeout_ms: 2_000 },
  );
  expect(await send()).toMatchObject({ parts: [{ kind: "deferred" }], countsAsAttempt: true });
  await rig.clock.advance(49_000);
  expect(await send()).toMatchObject({
    parts: [
      {
        kind: "deferred",
        error: { code: "4.4.1", message: "mx.example.test: the server did not answer in time" },
      },
    ],
    countsAsAttempt: true,
  });
  await rig.clock.advance(1_000);
  const trying = send();
  await until(() => host.lines.filter((line) => line.startsWith("MAIL")).length === 2);
  expect(await send()).toMatchObject(UNREACHED);
  said.resolve(undefined);
  expect(await trying).toMatchObject(DELIVERED);
  expect(await send()).toMatchObject(DELIVERED);
  expect(host.connections()).toBe(2);
});

test("a host that says nothing of one recipient keeps no other mail waiting", async () => {
  const { send } = await openDomain(
    () => undefined,
    (verb, connection) => (verb === "RCPT" && connection === 1 ? "silence" : undefined),
    { response_timeout_ms: 2_000 },
  );
  expect(await send()).toMatchObject({ parts: [{ kind: "deferred" }], countsAsAttempt: true });
  expect(await send()).toMatchObject({ parts: [{ kind: "sent", delivered: true }] });
});

test("a host that refuses one connection more than it has of ours is not down: that message waits, and it costs no attempt", async () => {
  const hold = Promise.withResolvers<undefined>();
  const { host, send } = await openDomain(
    (connection) => (connection === 2 ? { lastWords: "421 too many connections" } : undefined),
    async (verb) => (verb === "DOT" ? await hold.promise : undefined),
  );
  const first = send();
  await host.heard("DATA");
  expect(await send()).toMatchObject(BUSY);
  hold.resolve(undefined);
  expect(await first).toMatchObject(DELIVERED);
  expect(await send()).toMatchObject(DELIVERED);
});

test("a host that has refused one connection more is asked for another after 15 seconds, and not by every message", async () => {
  const [hold, holdAgain] = [Promise.withResolvers<undefined>(), Promise.withResolvers<undefined>()];
  const taken = [hold.promise, undefined, undefined, holdAgain.promise];
  const { rig, host, send } = await openDomain(
    (connection) => (connection === 2 ? { lastWords: "421 too many connections" } : undefined),
    (verb, connection) => (verb === "DOT" && connection === 1 ? taken.shift() : undefined),
  );
  const first = send();
  await host.heard("DATA");
  expect(await send()).toMatchObject(BUSY);
  await rig.clock.advance(14_999);
  const inLine = [send(), send()];
  hold.resolve(undefined);
  for (const each of [first, ...inLine]) expect(await each).toMatchObject(DELIVERED);
  expect(host.connections()).toBe(2);
  const last = send();
  await until(() => host.lines.filter((line) => line === "DATA").length === 4);
  await rig.clock.advance(1);
  expect(await send()).toMatchObject(DELIVERED);
  expect(host.connections()).toBe(3);
  holdAgain.resolve(undefined);
  await last;
});

test("of connections that are opened at the same time, those that are refused as too many wait for the one that is not", async () => {
  const hold = Promise.withResolvers<undefined>();
  const { host, send } = await openDomain((connection) =>
    connection === 1 ? hold.promise : { lastWords: "421 too many connections" },
  );
  const first = send();
  while (host.connections() < 1) await new Promise(setImmediate);
  const others = [send(), send()];
  for (const other of others) expect(await other).toMatchObject(BUSY);
  hold.resolve(undefined);
  expect(await first).toMatchObject(DELIVERED);
});

test("a host that has a connection for mail to another name of it is not down because it refuses one more", async () => {
  const hold = Promise.withResolvers<undefined>();
  const { rig, host, send } = await openDomain(
    (connection) => (connection === 2 ? { lastWords: "421 too many connections" } : undefined),
    async (verb) => (verb === "DOT" ? await hold.promise : undefined),
  );
  rig.host("example.org", "mx.example.org");
  const first = send();
  await host.heard("DATA");
  expect(await send("example.org")).toMatchObject(BUSY);
  hold.resolve(undefined);
  expect(await first).toMatchObject(DELIVERED);
  await rig.clock.advance(15_000);
  expect(await send("example.org")).toMatchObject(DELIVERED);
});

test("a recipient for whom no connection was left waits for that reason, although another has got the message", async () => {
  const hold = Promise.withResolvers<undefined>();
  const { rig, host, send } = await openDomain(
    (connection) => (connection > 2 ? { lastWords: "421 too many connections" } : undefined),
    async (verb, connection) => {
      if (verb !== "DOT") return undefined;
      return connection === 1 ? await hold.promise : { lastWords: "250 ok, and good-bye" };
    },
  );
  const first = send();
  await host.heard("DATA");
  const to = [{ email: "bob@example.test" }, { email: "cid@example.test" }];
  const each = outgoingEmail({ to }, { returnPathHost: "bounces.acme.example" });
  expect(await rig.channel.send(each, SIGNAL)).toMatchObject({
    parts: [{ kind: "sent" }, { kind: "deferred", error: { code: "mx.busy" } }],
    countsAsAttempt: true,
  });
  hold.resolve(undefined);
  await first;
});
