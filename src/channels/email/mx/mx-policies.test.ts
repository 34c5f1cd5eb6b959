/** What domains have published outlives the process, and messages keep to a host's pace, over real sockets. */
import { afterEach, expect, test } from "bun:test";
import { createServer, type Server } from "node:https";
import type { AddressInfo } from "node:net";
import { type FakeSmtp, startFakeSmtp } from "../../../../test/fakes/fake-smtp.ts";
import { createHeldClock } from "../../../../test/fakes/held-clock.ts";
import { mailTls } from "../../../../test/fakes/mail-tls.ts";
import { type MxRig, openMxRig } from "../../../../test/fakes/mx-rig.ts";
import { outgoingEmail } from "../../../../test/fakes/smtp-relay.ts";
import type { Clock } from "../../../core/clock.ts";
import { DAY_MS } from "../../../core/time/durations.ts";
import { openInMemory } from "../../../store/sqlite/sqlite-world.contract.ts";

const closing: (() => unknown)[] = [];

afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

const SIGNAL = new AbortController().signal;

async function openHost(options: Parameters<typeof startFakeSmtp>[0] = {}): Promise<FakeSmtp> {
  const smtp = await startFakeSmtp(options);
  closing.push(smtp.close);
  return smtp;
}

async function open(options: Parameters<typeof openMxRig>[0]): Promise<MxRig> {
  const rig = await openMxRig(options);
  closing.push(rig.close);
  rig.host("example.net", "mx.example.net");
  return rig;
}

const MAX_AGE_S = 86_400;

/** A web server that says of every domain that its hosts prove their names; before it does, it may do something else. */
async function openPolicyHost(before: (request: number) => unknown = () => {}): Promise<number> {
  const text = `version: STSv1\r\nmode: enforce\r\nmx: *.example.net\r\nmax_age: ${MAX_AGE_S}\r\n`;
  let requests = 0;
  const web: Server = createServer({ key: mailTls.key, cert: mailTls.cert }, async (_, response) => {
    await before(++requests);
    response.end(text);
  });
  await new Promise<void>((resolve) => web.listen(0, "127.0.0.1", resolve));
  closing.push(() => web.close());
  return (web.address() as AddressInfo).port;
}

function send({ channel }: MxRig, ...names: string[]) {
  const to = names.map((name) => ({ email: `${name}@example.net` }));
  return channel.send(outgoingEmail({ to }), SIGNAL);
}

test("a policy that was had before a restart holds after it, though its record and its file are gone", async () => {
  const { store } = await openInMemory();
  closing.push(() => store.close());
  const smtp = await openHost({ tls: "starttls" });
  const policyPort = await openPolicyHost();
  const options = {
    port: smtp.port,
    config: { mta_sts_port: policyPort, ca: mailTls.ca },
    policies: store.mailPolicies,
  };
  const before = await open(options);
  before.dns.txt.set("_mta-sts.example.net", "v=STSv1; id=1;");
  before.dns.a.set("mta-sts.example.net", ["127.0.0.1"]);
  // The host's certificate does not prove its name.
  expect((await send(before, "ann")).parts).toMatchObject([{ kind: "deferred", error: { code: "4.7.5" } }]);
  const after = await open(options);
  expect((await send(after, "ann")).parts).toMatchObject([{ kind: "deferred", error: { code: "4.7.5" } }]);
  const withoutIt = await open({ port: smtp.port, config: options.config });
  expect((await send(withoutIt, "ann")).parts).toMatchObject([{ kind: "sent", delivered: true }]);
});

test("where the asking for a policy is called off, other messages do not go as if there were none", async () => {
  const smtp = await openHost({ tls: "starttls" });
  const callingOff = new AbortController();
  const asked = Promise.withResolvers<void>();
  const policyPort = await openPolicyHost((request) => {
    asked.resolve();
    return request === 1 ? new Promise(() => {}) : undefined;
  });
  const rig = await open({ port: smtp.port, config: { mta_sts_port: policyPort, ca: mailTls.ca } });
  rig.dns.txt.set("_mta-sts.example.net", "v=STSv1; id=1;");
  rig.dns.a.set("mta-sts.example.net", ["127.0.0.1"]);
  const ann = rig.channel.send(outgoingEmail({ to: [{ email: "ann@example.net" }] }), callingOff.signal);
  await asked.promise;
  const bob = send(rig, "bob");
  callingOff.abort("the service stopped");
  expect((await ann).parts).toMatchObject([{ kind: "deferred", error: { code: "smtp.called_off" } }]);
  // The host's certificate does not prove its name.
  for (const sent of [bob, send(rig, "eve")]) {
    expect((await sent).parts).toMatchObject([{ kind: "deferred", error: { code: "4.7.5" } }]);
  }
  expect(smtp.received).toEqual([]);
});

/** A domain with a policy, and how often that was fetched. */
async function openWithPolicy(clock?: Clock) {
  const smtp = await openHost({ tls: "starttls" });
  let requests = 0;
  const policyPort = await openPolicyHost((request) => {
    requests = request;
  });
  const config = { mta_sts_port: policyPort, ca: mailTls.ca };
  const rig = await open({ port: smtp.port, config, ...(clock && { deps: { clock } }) });
  rig.dns.a.set("mta-sts.example.net", ["127.0.0.1"]);
  rig.dns.txt.set("_mta-sts.example.net", "v=STSv1; id=1;");
  return { rig, asked: () => requests };
}

test("the DNS is asked for a domain's policy again after five minutes, and the host only where that says so", async () => {
  const { rig, asked } = await openWithPolicy();
  const seen: [string, number][] = [];
  const look = async () => {
    const [part] = (await send(rig, "ann")).parts;
    seen.push([part?.kind === "deferred" ? part.error.code : "sent", asked()]);
  };
  // Messages that come together ask once.
  await Promise.all([look(), look()]);
  // Another id, where the policy has changed.
  rig.dns.txt.set("_mta-sts.example.net", "v=STSv1; id=2;");
  await rig.clock.advance(5 * 60_000 - 1);
  await look();
  await rig.clock.advance(1);
  await look();
  await rig.clock.advance(5 * 60_000);
  await look();
  expect(seen).toEqual([
    ["4.7.5", 1],
    ["4.7.5", 1],
    ["4.7.5", 1],
    ["4.7.5", 2],
    ["4.7.5", 2],
  ]);
});

test("a policy ends with its max_age, unless its host still has it then", async () => {
  const { rig, asked } = await openWithPolicy();
  const isHeld = async () => (await send(rig, "ann")).parts[0]?.kind === "deferred";
  expect([await isHeld(), asked()]).toEqual([true, 1]);
  await rig.clock.advance(MAX_AGE_S * 1_000);
  expect([await isHeld(), asked()]).toEqual([true, 2]);
  rig.dns.txt.delete("_mta-sts.example.net");
  await rig.clock.advance(MAX_AGE_S * 1_000 - 1);
  expect([await isHeld(), asked()]).toEqual([true, 2]);
  await rig.clock.advance(5 * 60_000);
  expect([await isHeld(), asked()]).toEqual([false, 2]);
});

test("a policy is fetched anew when half of its time is over, and holds though its host is away at its end", async () => {
  const { rig, asked } = await openWithPolicy();
  const isHeld = async () => (await send(rig, "ann")).parts[0]?.kind === "deferred";
  const half = (MAX_AGE_S * 1_000) / 2;
  expect([await isHeld(), asked()]).toEqual([true, 1]);
  await rig.clock.advance(half - 1);
  expect([await isHeld(), asked()]).toEqual([true, 1]);
  await rig.clock.advance(5 * 60_000);
  expect([await isHeld(), asked()]).toEqual([true, 2]);
  rig.dns.a.delete("mta-sts.example.net");
  await rig.clock.advance(half);
  expect([await isHeld(), asked()]).toEqual([true, 2]);
});

test("a policy that was had while the clock was a year ahead is asked for again once it is right, and holds no longer than others", async () => {
  const held = createHeldClock();
  let aheadMs = 365 * DAY_MS;
  const { rig, asked } = await openWithPolicy({ ...held, now: () => held.now() + aheadMs });
  const isHeld = async () => (await send(rig, "ann")).parts[0]?.kind === "deferred";
  expect([await isHeld(), asked()]).toEqual([true, 1]);
  aheadMs = 0;
  expect([await isHeld(), asked()]).toEqual([true, 2]);
  aheadMs = -365 * DAY_MS;
  rig.dns.txt.delete("_mta-sts.example.net");
  expect([await isHeld(), asked()]).toEqual([true, 2]);
  await held.advance(MAX_AGE_S * 1_000);
  expect([await isHeld(), asked()]).toEqual([false, 2]);
});

test("that a policy cannot be fetched anew is logged once, until it could be fetched again", async () => {
  const { rig } = await openWithPolicy();
  const half = (MAX_AGE_S * 1_000) / 2;
  const linesAfter = async (ms: number) => {
    await rig.clock.advance(ms);
    await send(rig, "ann");
    return rig.logged.length;
  };
  expect(await linesAfter(0)).toBe(0);
  rig.dns.a.delete("mta-sts.example.net");
  expect(await linesAfter(half)).toBe(1);
  expect(rig.logged).toEqual(["a domain's MTA-STS policy could not be fetched anew"]);
  expect(await linesAfter(5 * 60_000)).toBe(1);
  rig.dns.a.set("mta-sts.example.net", ["127.0.0.1"]);
  expect(await linesAfter(5 * 60_000)).toBe(1);
  rig.dns.a.delete("mta-sts.example.net");
  expect(await linesAfter(half)).toBe(2);
  // There is none to be lost.
  rig.host("example.org", "mx.example.org");
  rig.dns.txt.set("_mta-sts.example.org", "v=STSv1; id=1;");
  await rig.channel.send(outgoingEmail({ to: [{ email: "ann@example.org" }] }), SIGNAL);
  expect(rig.logged).toHaveLength(2);
});

test("a database that is away keeps no message waiting", async () => {
  const smtp = await openHost();
  const away = () => Promise.reject(new Error("away"));
  const rig = await open({ port: smtp.port, policies: { find: away, keep: away } });
  expect((await send(rig, "ann")).parts).toMatchObject([{ kind: "sent", delivered: true }]);
});

test.each([
  ["domain", "max_per_second_per_domain"],
  ["mail host", "max_per_second_per_host"],
])("messages to one %s keep to its rate a second", async (_, setting) => {
  const smtp = await openHost();
  const rig = await open({ port: smtp.port, config: { [setting]: 2, mta_sts: false } });
  const sent = Promise.all(["a", "b", "c", "d"].map((name) => send(rig, name)));
  await smtp.mail(0);
  // The first went at once; the others have a timer each, and come half a second apart.
  for (const arrived of [1, 2, 3]) {
    expect(smtp.received).toHaveLength(arrived);
    await rig.clock.advance(500);
    await smtp.mail(arrived);
  }
  for (const { parts } of await sent) expect(parts).toMatchObject([{ kind: "sent" }]);
});
