/** A relay that says that we send too fast is left alone for a moment, and its mails cost no attempt. */
import { expect, test } from "bun:test";
import {
  openSmtpRelay,
  outgoingEmail,
  smtpConnector,
  withRelays,
} from "../../../../test/fakes/smtp-relay.ts";

const NEVER = new AbortController().signal;
const TOO_FAST = { code: 454, text: "Throttling failure: Maximum sending rate exceeded." };

const { fake, closeLater } = withRelays();

async function upRelay() {
  const server = await fake();
  let told = 0;
  const opened = openSmtpRelay(smtpConnector(server.port, { max_connections: 3 }), { onSlots: () => told++ });
  closeLater(opened.channel.stop);
  await opened.became("up");
  const send = () => opened.channel.send(outgoingEmail(), NEVER);
  return { ...opened, server, send, told: () => told };
}

test("the mail waits a second and costs no attempt, and nothing is sent meanwhile", async () => {
  const { channel, clock, server, send, told } = await upRelay();
  server.dial.message = TOO_FAST;
  expect(await send()).toMatchObject({
    parts: [{ kind: "deferred", retryAfterMs: 1_000, error: { code: "smtp.454" } }],
    countsAsAttempt: false,
  });
  expect(channel.freeSlots()).toBe(0);
  expect(channel.status()).toMatchObject({ state: "up", rate: { perSecond: 0, isReduced: true } });
  delete server.dial.message;
  await clock.advance(999);
  expect(channel.freeSlots()).toBe(0);
  const before = told();
  await clock.advance(1);
  expect(told()).toBe(before + 1);
  expect(channel.freeSlots()).toBe(3);
  expect(channel.status()).not.toHaveProperty("rate");
  expect(await send()).toMatchObject({ parts: [{ kind: "sent" }], countsAsAttempt: true });
});

test.each([
  ["mail", "4.7.1 Error: too much mail from 192.0.2.1"],
  ["rcpt", "4.7.1 Error: too many recipients from 192.0.2.1"],
] as const)("Postfix's words in answer to %s are such words too", async (at, text) => {
  const { channel, server, send } = await upRelay();
  const refusal = { code: 450, text };
  Object.assign(server.dial, { [at]: at === "rcpt" ? { "*": refusal } : refusal });
  expect(await send()).toMatchObject({
    parts: [{ kind: "deferred", retryAfterMs: 1_000, error: { code: "4.7.1" } }],
    countsAsAttempt: false,
  });
  expect(channel.freeSlots()).toBe(0);
});

test("a mail that may have been taken for one recipient counts, though the relay has throttled another one", async () => {
  const { server, channel } = await upRelay();
  const [ann, bob] = [{ email: "ann@example.test" }, { email: "bob@example.test" }];
  server.dial.rcpt = { [ann.email]: { code: 450, text: "4.7.1 Error: too many recipients from 192.0.2.1" } };
  server.dial.drop = "after";
  expect(await channel.send(outgoingEmail({ to: [ann, bob] }), NEVER)).toMatchObject({
    parts: [{ kind: "deferred", retryAfterMs: 1_000 }, { kind: "unconfirmed" }],
    countsAsAttempt: true,
  });
});

test("a relay that throttles rests twice as long each time, a minute at most, until it has taken a mail", async () => {
  const { clock, server, send } = await upRelay();
  const waits: unknown[] = [];
  const beThrottled = async () => {
    server.dial.message = TOO_FAST;
    const [part] = (await send()).parts;
    waits.push(part?.kind === "deferred" ? part.retryAfterMs : part?.kind);
    await clock.advance(60_000);
  };
  for (let time = 0; time < 8; time++) await beThrottled();
  expect(waits).toEqual([1, 2, 4, 8, 16, 32, 60, 60].map((seconds) => seconds * 1_000));
  delete server.dial.message;
  await send();
  await beThrottled();
  expect(waits.at(-1)).toBe(1_000);
});

test("mails under way when a relay begins to throttle wait for the same rest", async () => {
  const { clock, server, send } = await upRelay();
  const hold = Promise.withResolvers<void>();
  Object.assign(server.dial, { message: TOO_FAST, holdMessage: hold.promise });
  const both = [send(), send()];
  await server.openConnections(2);
  hold.resolve();
  for (const outcome of await Promise.all(both)) {
    expect(outcome.parts).toMatchObject([{ kind: "deferred", retryAfterMs: 1_000 }]);
  }
  await clock.advance(1_000);
  const [next] = (await send()).parts;
  expect(next).toMatchObject({ retryAfterMs: 2_000 });
});

test("a relay that throttles rests also where it has taken the copy of another recipient right behind", async () => {
  const server = await fake();
  const opened = openSmtpRelay(smtpConnector(server.port));
  closeLater(opened.channel.stop);
  await opened.became("up");
  const answers = [TOO_FAST, undefined];
  Object.defineProperty(server.dial, "message", { get: () => answers.shift() });
  const to = [{ email: "ann@example.test" }, { email: "bob@example.test" }];
  const email = outgoingEmail({ to }, { returnPathHost: "bounce.acme.test" });
  expect(await opened.channel.send(email, NEVER)).toMatchObject({
    parts: [{ kind: "deferred", retryAfterMs: 1_000 }, { kind: "sent" }],
    countsAsAttempt: false,
  });
  expect(opened.channel.freeSlots()).toBe(0);
});

test("a relay that refuses one recipient for now goes on with the others", async () => {
  const { channel, server, send } = await upRelay();
  server.dial.rcpt = { "*": { code: 450, text: "4.2.1 too many messages for this mailbox" } };
  expect(await send()).toMatchObject({ parts: [{ kind: "deferred" }], countsAsAttempt: true });
  expect(channel.freeSlots()).toBe(3);
});
