/** Mail hosts that take fewer connections at a time than our limits allow. */
import { afterEach, expect, test } from "bun:test";
import { type RawSmtp, startRawSmtp } from "../../../../test/fakes/fake-smtp.ts";
import { createHeldClock } from "../../../../test/fakes/held-clock.ts";
import { type MxRig, openMxRig } from "../../../../test/fakes/mx-rig.ts";
import { outgoingEmail } from "../../../../test/fakes/smtp-relay.ts";
import { until } from "../../../../test/until.ts";
import { createFullHosts } from "./full-hosts.ts";
import { createHostSessions } from "./host-sessions.ts";
import { createHostVisits } from "./host-visits.ts";
import { toMxSettings } from "./mx-config.ts";

const closing: (() => unknown)[] = [];

afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

const SIGNAL = new AbortController().signal;
const delivered = () => ({ parts: [{ kind: "sent", delivered: true }] });

interface Host {
  readonly rig: MxRig;
  readonly host: RawSmtp;
  /** How many connections it takes now; a mail is taken once `hold` resolves, in these words. */
  readonly dial: { most: number; hold?: Promise<string | { readonly lastWords: string }> };
  readonly refused: () => number;
  send(): ReturnType<MxRig["channel"]["send"]>;
}

/** The host of `example.test`, at 127.0.0.1. */
async function openHost(most: number): Promise<Host> {
  const dial: Host["dial"] = { most };
  const open = new Set<number>();
  let refused = 0;
  const host = await startRawSmtp(async (verb, _, connection) => {
    if (verb === "QUIT") open.delete(connection);
    if (verb === "DOT") return await dial.hold;
    if (verb !== "GREETING") return undefined;
    if (open.size < dial.most) return void open.add(connection);
    refused++;
    return { lastWords: "421 too many connections" };
  });
  closing.push(host.close);
  const rig = await openMxRig({ port: host.port });
  closing.push(rig.close);
  rig.host("example.test", "mx.example.test");
  const send = () => rig.channel.send(outgoingEmail({ to: [{ email: "ann@example.test" }] }), SIGNAL);
  return { rig, host, dial, refused: () => refused, send };
}

function noteAll(sent: readonly ReturnType<Host["send"]>[]): unknown[] {
  const outcomes: unknown[] = [];
  for (const each of sent) void each.then((outcome) => outcomes.push(outcome));
  return outcomes;
}

const inHand = ({ lines }: RawSmtp) => lines.filter((line) => line === "DATA").length;

test("mail for a host that takes two connections goes over these two, and the mails that it refused come back for their turn", async () => {
  const { host, dial, refused, send } = await openHost(2);
  const hold = Promise.withResolvers<string>();
  dial.hold = hold.promise;
  const sent = Array.from({ length: 5 }, send);
  const outcomes = noteAll(sent);
  await until(() => outcomes.length === 3);
  for (const outcome of outcomes)
    expect(outcome).toMatchObject({
      parts: [{ kind: "deferred", error: { code: "mx.busy" }, retryAfterMs: 200, isOwnPace: true }],
      countsAsAttempt: false,
    });
  const back = Array.from({ length: 3 }, send);
  hold.resolve("250 ok");
  for (const each of back) expect(await each).toMatchObject(delivered());
  await until(() => outcomes.length === 5);
  expect(outcomes.slice(3)).toMatchObject([delivered(), delivered()]);
  expect([host.connections(), refused()]).toEqual([5, 3]);
});

test("mail that finds such a host full goes to the domain's next host at once", async () => {
  const { rig, host, dial, send } = await openHost(1);
  const next = await startRawSmtp(() => undefined, host.port, "127.0.0.2");
  closing.push(next.close);
  rig.dns.mx.set("example.test", ["1 mx.example.test", "2 next.example.test"]);
  rig.dns.a.set("next.example.test", ["127.0.0.2"]);
  const hold = Promise.withResolvers<string>();
  dial.hold = hold.promise;
  const first = send();
  await host.heard("DATA");
  for (const mail of ["the one that is refused", "one that comes later"])
    expect([mail, await send()]).toMatchObject([mail, delivered()]);
  expect([host.connections(), inHand(next)]).toEqual([2, 2]);
  hold.resolve("250 ok");
  expect(await first).toMatchObject(delivered());
});

test("a host that takes more connections again has as many as are allowed after 15 seconds", async () => {
  const { rig, host, dial, refused, send } = await openHost(2);
  const outcomes = noteAll(Array.from({ length: 5 }, send));
  await until(() => outcomes.length === 5);
  const before = refused();
  expect(before).toBeGreaterThan(0);
  await rig.clock.advance(15_000);
  dial.most = 5;
  const hold = Promise.withResolvers<string>();
  dial.hold = hold.promise;
  const already = inHand(host);
  const sent = Array.from({ length: 5 }, send);
  await until(() => inHand(host) === already + 5);
  expect(refused()).toBe(before);
  hold.resolve("250 ok");
  for (const each of sent) expect(await each).toMatchObject(delivered());
});

test("a host that was full, and then takes no connection at all, is tried again like any that cannot be reached", async () => {
  const { rig, host, dial, send } = await openHost(1);
  const hold = Promise.withResolvers<{ readonly lastWords: string }>();
  dial.hold = hold.promise;
  const first = send();
  await host.heard("DATA");
  expect(await send()).toMatchObject({ parts: [{ error: { code: "mx.busy" } }] });
  dial.most = 0;
  hold.resolve({ lastWords: "250 ok, and good-bye" });
  expect(await first).toMatchObject(delivered());
  expect(await send()).toMatchObject({ parts: [{ error: { code: "4.4.1" } }], countsAsAttempt: true });
  await rig.clock.advance(50_000);
  dial.most = 2;
  expect(await send()).toMatchObject(delivered());
});

test("mail that must not go over the connections that such a host has, since it wants proof of its name, asks it every 15 seconds", async () => {
  const { host } = await openHost(1);
  const clock = createHeldClock();
  const settings = toMxSettings({ config: { port: host.port, allowed_ranges: ["127.0.0.0/8"] } });
  const [visits, full] = [createHostVisits(clock), createFullHosts(clock)];
  const sessions = createHostSessions(settings, { clock, visits, full, onMissingAddress() {} });
  closing.push(sessions.quitAll);
  const connect = (mustProve: boolean) =>
    sessions
      .connectionsTo({ name: "mx.example.test", address: "127.0.0.1", mustProve })
      .connect({ isFresh: false, signal: SIGNAL });
  expect(await connect(false)).toMatchObject({ isReused: false });
  expect(await connect(true)).toEqual({ fault: { code: "mx.busy", message: expect.any(String) } });
  const notAsked = { fault: { code: "mx.busy", retryAfterMs: 15_000 } };
  for (const waitedMs of [0, 14_999]) {
    await clock.advance(waitedMs);
    expect(await connect(true)).toMatchObject(notAsked);
  }
  expect(host.connections()).toBe(2);
  await clock.advance(1);
  await connect(true);
  expect(host.connections()).toBe(3);
});
