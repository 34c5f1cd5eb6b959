/** Mail hosts that take no mail from us for now: they are asked again by one message at a time. */
import { afterEach, expect, test } from "bun:test";
import { type RawAnswer, type RawSmtp, startRawSmtp } from "../../../../test/fakes/fake-smtp.ts";
import { type MxRig, openMxRig } from "../../../../test/fakes/mx-rig.ts";
import { outgoingEmail } from "../../../../test/fakes/smtp-relay.ts";

const closing: (() => unknown)[] = [];

afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

const SIGNAL = new AbortController().signal;
const YAHOO = { lastWords: "421 4.7.0 [TSS04] Messages from 192.0.2.1 temporarily deferred" };
const GMAIL = {
  lastWords: "421-4.7.28 Gmail has detected an unusual rate of mail\r\n421 4.7.28 from your IP address",
};
const delivered = () => ({ parts: [{ kind: "sent", delivered: true }], countsAsAttempt: true });
/** The host was not asked. */
const resting = (retryAfterMs: number) => ({
  parts: [{ kind: "deferred", error: { code: "mx.resting" }, retryAfterMs, isOwnPace: true }],
  countsAsAttempt: false,
});

interface Host {
  readonly rig: MxRig;
  readonly host: RawSmtp;
  /** What goes wrong from now on. */
  readonly dial: { at?: string; answer?: RawAnswer | Promise<RawAnswer> };
  send(...to: readonly string[]): ReturnType<MxRig["channel"]["send"]>;
}

async function openHost(at: string, answer: RawAnswer): Promise<Host> {
  const dial: Host["dial"] = { at, answer };
  const host = await startRawSmtp((verb) => (verb === dial.at ? dial.answer : undefined));
  closing.push(host.close);
  const rig = await openMxRig({ port: host.port });
  closing.push(rig.close);
  for (const domain of ["example.test", "other.test"]) rig.host(domain, "mx.example.test");
  const send: Host["send"] = (...names) => {
    const to = (names.length > 0 ? names : ["ann@example.test"]).map((email) => ({ email }));
    return rig.channel.send(outgoingEmail({ to }, { returnPathHost: "bounce.acme.test" }), SIGNAL);
  };
  return { rig, host, dial, send };
}

test.each([
  ["GREETING", { lastWords: "421 4.7.0 Try again later, closing connection." }, "4.4.1"],
  ["EHLO", { lastWords: "421 4.7.0 Try again later, closing connection." }, "4.4.1"],
  ["MAIL", YAHOO, "4.7.0"],
  [
    "MAIL",
    "451 4.7.650 The mail server [192.0.2.1] has been temporarily rate limited due to IP reputation",
    "4.7.650",
  ],
  ["MAIL", "450 4.7.1 Error: too much mail from 192.0.2.1", "4.7.1"],
  ["RCPT", "450 4.7.1 Error: too many recipients from 192.0.2.1", "4.7.1"],
  ["DATA", "451 4.7.500 Server busy. Please try again later from [192.0.2.1].", "4.7.500"],
  ["DOT", GMAIL, "4.7.28"],
] as const)(
  "a host that takes no mail from us for now rests for all messages of all its domains: %s is answered %p",
  async (at, answer, code) => {
    const { rig, host, dial, send } = await openHost(at, answer);
    expect(await send()).toMatchObject({
      parts: [{ kind: "deferred", error: { code } }],
      countsAsAttempt: true,
    });
    const knocks = () => [host.connections(), host.lines.filter((line) => line.startsWith("MAIL")).length];
    const before = knocks();
    delete dial.at;
    expect(await send()).toMatchObject(resting(15_000));
    await rig.clock.advance(14_000);
    expect(await send("bob@other.test")).toMatchObject(resting(1_000));
    expect(knocks()).toEqual(before);
    await rig.clock.advance(1_000);
    expect(await send("bob@other.test")).toMatchObject(delivered());
    expect(await send()).toMatchObject(delivered());
  },
);

test("after a rest one message tries the host, and the others wait until it has answered", async () => {
  const { rig, host, dial, send } = await openHost("DOT", GMAIL);
  await send();
  await rig.clock.advance(15_000);
  const taken = Promise.withResolvers<undefined>();
  dial.answer = taken.promise;
  const trying = send();
  while (host.lines.filter((line) => line === "DATA").length < 2) await new Promise(setImmediate);
  expect(await send()).toMatchObject(resting(15_000));
  taken.resolve(undefined);
  expect(await trying).toMatchObject(delivered());
  expect(await Promise.all([send(), send()])).toMatchObject([delivered(), delivered()]);
});

test("each rest is twice as long as the one before, two minutes at most, until the host has taken a mail", async () => {
  const { rig, dial, send } = await openHost("MAIL", YAHOO);
  const rests: unknown[] = [];
  const beThrottled = async () => {
    dial.at = "MAIL";
    await send();
    const [part] = (await send()).parts;
    rests.push(part?.kind === "deferred" && part.retryAfterMs);
    await rig.clock.advance(120_000);
  };
  for (let time = 0; time < 5; time++) await beThrottled();
  expect(rests).toEqual([15, 30, 60, 120, 120].map((seconds) => seconds * 1_000));
  delete dial.at;
  await send();
  await beThrottled();
  expect(rests.at(-1)).toBe(15_000);
});

test("a message that the host judges says that it takes mail again, but not that the next rest may be short", async () => {
  const { rig, host, dial, send } = await openHost("MAIL", YAHOO);
  await send();
  await rig.clock.advance(15_000);
  Object.assign(dial, { at: "RCPT", answer: "450 4.2.0 greylisted" });
  const greylisted = () => ({
    parts: [{ kind: "deferred", error: { code: "4.2.0" } }],
    countsAsAttempt: true,
  });
  expect(await send()).toMatchObject(greylisted());
  const asked = Promise.withResolvers<string>();
  dial.answer = asked.promise;
  const both = [send(), send()];
  while (host.lines.filter((line) => line.startsWith("RCPT")).length < 3) await new Promise(setImmediate);
  asked.resolve("450 4.2.0 greylisted");
  expect(await Promise.all(both)).toMatchObject([greylisted(), greylisted()]);
  Object.assign(dial, { at: "MAIL", answer: YAHOO });
  await send();
  expect(await send()).toMatchObject(resting(30_000));
});

test("an attempt that was called off, or lost, leaves the host to the next message", async () => {
  const { rig, host, dial, send } = await openHost("MAIL", YAHOO);
  await send();
  await rig.clock.advance(15_000);
  Object.assign(dial, { answer: "silence" });
  const cut = new AbortController();
  const trying = rig.channel.send(outgoingEmail({ to: [{ email: "ann@example.test" }] }), cut.signal);
  while (host.connections() < 2) await new Promise(setImmediate);
  cut.abort("stop");
  await trying;
  dial.answer = "drop";
  expect(await send()).toMatchObject({ countsAsAttempt: true });
  delete dial.at;
  expect(await send()).toMatchObject(delivered());
});

test.each([
  ["RCPT", "450 4.7.1 greylisted"],
  ["RCPT", "450 4.2.0 greylisted"],
  ["RCPT", "451 4.7.1 try again later"],
  ["RCPT", { lastWords: "421 4.7.0 too many errors" }],
  ["MAIL", "451 4.7.1 greylisted"],
  ["DOT", "451 4.7.1 Try again later"],
  [
    "DOT",
    { lastWords: "421 4.7.0 this message is suspicious due to the low reputation of the sending domain" },
  ],
  ["MAIL", { lastWords: "421 4.7.28 unusual rate of mail originating from your DKIM domain" }],
  [
    "MAIL",
    { lastWords: "421-4.7.28 unusual rate of mail from your SPF\r\n421 4.7.28 domain [acme.test 35]" },
  ],
  [
    "DOT",
    { lastWords: "421-4.7.0 [192.0.2.1 15] We have detected that this\r\n421 4.7.0 message is suspicious" },
  ],
  ["MAIL", { lastWords: "421 4.7.26 rate limited because the mail is unauthenticated" }],
  ["DOT", "450 4.2.1 the user is receiving mail too quickly"],
  ["MAIL", "452 4.3.1 insufficient system storage"],
] as const)(
  "what is said of a recipient, a message or its sender's domain makes no host rest: %s is answered %p",
  async (at, answer) => {
    const { dial, send } = await openHost(at, answer);
    expect(await send()).toMatchObject({ parts: [{ kind: "deferred" }] });
    delete dial.at;
    expect(await send()).toMatchObject(delivered());
  },
);

test("the copies for a message's other recipients are not offered to the host then, nor to the domain's next one", async () => {
  const { rig, host, send } = await openHost("MAIL", YAHOO);
  rig.dns.mx.set("example.test", ["1 mx.example.test", "2 next.example.test"]);
  rig.dns.a.set("next.example.test", ["127.0.0.1"]);
  expect(await send("ann@example.test", "bob@example.test")).toMatchObject({
    parts: [
      { kind: "deferred", error: { code: "4.7.0" } },
      { kind: "deferred", error: { code: "mx.resting" }, retryAfterMs: 15_000 },
    ],
    countsAsAttempt: true,
  });
  expect(host.lines.filter((line) => line.startsWith("MAIL"))).toHaveLength(1);
});

test("a host that refuses every connection in such words keeps no mail from the domain's next host", async () => {
  const { rig, host, send } = await openHost("GREETING", { lastWords: "421 4.7.0 not from you" });
  const next = await startRawSmtp(() => undefined, host.port, "127.0.0.2");
  closing.push(next.close);
  rig.dns.mx.set("example.test", ["1 mx.example.test", "2 next.example.test"]);
  rig.dns.a.set("mx.example.test", ["127.0.0.1", "127.0.0.3"]);
  rig.dns.a.set("next.example.test", ["127.0.0.2"]);
  for (const mail of ["the one that is refused", "one while the host rests"])
    expect([mail, (await send()).parts[0]?.kind]).toEqual([mail, "sent"]);
  expect(host.connections()).toBe(1);
  expect(await send("bob@other.test")).toMatchObject(resting(15_000));
});

test("an idle connection that a host has closed with such words is no reason to rest", async () => {
  const { dial, send } = await openHost("NEVER", undefined);
  expect(await send()).toMatchObject(delivered());
  let times = 0;
  Object.defineProperty(dial, "answer", { get: () => (times++ === 0 ? YAHOO : undefined) });
  dial.at = "MAIL";
  expect(await send()).toMatchObject(delivered());
  expect(times).toBe(2);
});
