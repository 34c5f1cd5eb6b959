/** Mail hosts that cannot be connected to, or not once more. */
import { afterEach, expect, test } from "bun:test";
import { type RawAnswer, type RawSmtp, startRawSmtp } from "../../../../test/fakes/fake-smtp.ts";
import { type MxRig, openMxRig } from "../../../../test/fakes/mx-rig.ts";
import { outgoingEmail } from "../../../../test/fakes/smtp-relay.ts";

const closing: (() => unknown)[] = [];

afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

const SIGNAL = new AbortController().signal;
const UNREACHED = { parts: [{ kind: "deferred", error: { code: "4.4.1" } }], countsAsAttempt: true };
const DELIVERED = { parts: [{ kind: "sent", delivered: true }] };

interface Domain {
  readonly rig: MxRig;
  readonly host: RawSmtp;
  send(): ReturnType<MxRig["channel"]["send"]>;
}

async function openDomain(greet: (connection: number) => RawAnswer | Promise<RawAnswer>): Promise<Domain> {
  const host = await startRawSmtp((verb, _, connection) =>
    verb === "GREETING" ? greet(connection) : undefined,
  );
  closing.push(host.close);
  const rig = await openMxRig({ port: host.port });
  closing.push(rig.close);
  rig.host("example.test", "mx.example.test");
  const to = [{ email: "ann@example.test" }];
  return { rig, host, send: () => rig.channel.send(outgoingEmail({ to }), SIGNAL) };
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

test("a host that refuses one connection more than it has of ours is not down: that message waits, and it costs no attempt", async () => {
  const hold = Promise.withResolvers<undefined>();
  const host = await startRawSmtp(async (verb, _, connection) => {
    if (verb === "GREETING") return connection === 2 ? { lastWords: "421 too many connections" } : undefined;
    return verb === "DOT" ? await hold.promise : undefined;
  });
  closing.push(host.close);
  const rig = await openMxRig({ port: host.port });
  closing.push(rig.close);
  rig.host("example.test", "mx.example.test");
  const send = () => rig.channel.send(outgoingEmail({ to: [{ email: "ann@example.test" }] }), SIGNAL);
  const first = send();
  await host.heard("DATA");
  expect(await send()).toMatchObject({
    parts: [{ kind: "deferred", error: { code: "mx.busy" }, retryAfterMs: 15_000 }],
    countsAsAttempt: false,
  });
  hold.resolve(undefined);
  expect(await first).toMatchObject(DELIVERED);
  expect(await send()).toMatchObject(DELIVERED);
});
