/** How long a gateway is left alone after it throttled, refused us or could not be reached, and what operators see of it. */
import { afterEach, beforeEach, expect, test } from "bun:test";
import { type FakeGateway, startFakeGateway } from "../../../../test/fakes/fake-gateway.ts";
import { ACCEPTED, type HttpRig, never, openPlain, outgoingSms } from "../../../../test/fakes/http-rig.ts";
import { keptPort } from "../../../../test/fakes/kept-port.ts";

/** As many messages as may be under way at once. */
const SLOTS = 20;

let gateway: FakeGateway;
let rig: HttpRig;
beforeEach(async () => {
  gateway = await startFakeGateway(ACCEPTED, await keptPort());
  rig = openPlain(gateway.url);
});
afterEach(async () => {
  await rig.channel.stop();
  expect(rig.clock.pending()).toBe(0);
  await gateway.close();
});

/** Sends a message that the gateway has not seen yet. */
let sent = 0;
const send = (to = "+919876543210") =>
  rig.channel.send(outgoingSms({ to, messageId: `message-${sent++}` }), never);

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

const throttling = (seconds: number) => ({ status: 429, headers: { "Retry-After": String(seconds) } });

/** Waits are spread by a tenth: this one ends no sooner, however it falls. */
const noSoonerThan = (ms: number) => Math.ceil(ms / 0.9);

/** That the rest under way ends after so many milliseconds, not sooner, and whoever waits is told. */
async function expectRest(ms: number, slots: number) {
  await rig.clock.advance(ms - 1);
  expect(rig.channel.freeSlots()).toBe(0);
  const told = rig.slotsTold();
  await rig.clock.advance(1);
  expect([rig.channel.freeSlots(), rig.slotsTold()]).toEqual([slots, told + 1]);
}

test("a gateway that refuses us is tried every minute at least, and an answer makes all of that forgotten", async () => {
  gateway.behave({ status: 401 });
  for (const seconds of [1, 2, 4, 8, 16, 32, 60, 60]) {
    await send();
    await expectRest(seconds * 1_000, 1);
  }
  gateway.behave(ACCEPTED);
  await send();
  gateway.behave({ status: 401 });
  await send();
  await expectRest(1_000, 1);
});

test("what refuses several messages under way is one refusal", async () => {
  gateway.behave({ status: 403 });
  await Promise.all([send(), send(), send()]);
  await expectRest(1_000, 1);
  await send();
  await expectRest(2_000, 1);
});

test("a message that met a refusal makes way for another: it comes back five seconds after the rest, whatever the spread", async () => {
  gateway.behave({ status: 401 });
  expect((await send()).parts).toMatchObject([{ kind: "deferred", retryAfterMs: noSoonerThan(6_000) }]);
  await rig.clock.advance(1_000);
  expect((await send()).parts).toMatchObject([{ kind: "deferred", retryAfterMs: noSoonerThan(7_000) }]);
  await rig.clock.advance(2_000);
  gateway.behave({ status: 401, headers: { "Retry-After": "120" } });
  expect((await send()).parts).toMatchObject([{ kind: "deferred", retryAfterMs: 120_000 }]);
});

test("a message that alone is refused takes the gateway down once, not at each of its tries", async () => {
  gateway.behave(({ json }) => (json.to === "+919876543211" ? { status: 403 } : ACCEPTED));
  const refused = () => rig.channel.send(outgoingSms({ to: "+919876543211", messageId: "refused" }), never);
  await refused();
  await expectRest(1_000, 1);
  expect((await send()).parts).toMatchObject([{ kind: "sent" }]);
  for (const seconds of [10, 20]) {
    const { parts, countsAsAttempt } = await refused();
    expect(parts).toMatchObject([{ kind: "deferred", retryAfterMs: seconds * SECOND }]);
    expect(countsAsAttempt).toBe(false);
    expect(rig.channel.freeSlots()).toBe(SLOTS);
    await send();
  }
  expect(rig.statuses.map(({ state }) => state)).toEqual(["up", "down", "up"]);
});

test("a gateway that throttles all it is given is tried with one message, every ten seconds at least, until it takes one", async () => {
  gateway.behave({ status: 429 });
  await Promise.all([send(), send(), send()]);
  await expectRest(1_000, SLOTS);
  for (const seconds of [2, 4, 8, 10, 10]) {
    await send();
    await expectRest(seconds * SECOND, 1);
  }
  gateway.behave(ACCEPTED);
  expect((await send()).parts).toMatchObject([{ kind: "sent" }]);
  expect(rig.channel.freeSlots()).toBe(SLOTS);
  gateway.behave({ status: 429 });
  await send();
  await expectRest(1_000, SLOTS);
});

test("a gateway that takes some of what it is given, and throttles the rest, is given as many again after a second", async () => {
  for (let times = 0; times < 4; times++) {
    gateway.behave(ACCEPTED);
    await send();
    gateway.behave({ status: 429 });
    await send();
    await expectRest(1_000, SLOTS);
  }
});

test("a message that may be throttled for its recipient's sake makes way for another, as one that is refused", async () => {
  gateway.behave({ status: 429 });
  expect((await send()).parts).toMatchObject([{ kind: "deferred", retryAfterMs: 1_000 }]);
  await rig.clock.advance(1_000);
  expect((await send()).parts).toMatchObject([{ kind: "deferred", retryAfterMs: noSoonerThan(7_000) }]);
});

test("a throttled gateway that asks for a longer rest has it", async () => {
  gateway.behave(throttling(30));
  await send();
  await expectRest(30_000, SLOTS);
  await send();
  await expectRest(30_000, 1);
});

test("after a rest, messages that the gateway has turned away leave the turn to others for five seconds", async () => {
  gateway.behave({ status: 403 });
  const again = (messageId: string) => rig.channel.send(outgoingSms({ messageId }), never);
  await again("first");
  await rig.clock.advance(SECOND);
  await again("second");
  await rig.clock.advance(2 * SECOND);
  for (const messageId of ["first", "second"]) {
    const told = rig.slotsTold();
    expect(await again(messageId)).toMatchObject({
      parts: [{ kind: "deferred", retryAfterMs: noSoonerThan(7_000), error: { code: "http.gives_way" } }],
      countsAsAttempt: false,
    });
    expect([rig.channel.freeSlots(), rig.slotsTold()]).toEqual([1, told + 1]);
  }
  expect(gateway.requests).toHaveLength(2);
  await rig.clock.advance(5 * SECOND);
  await again("first");
  expect(gateway.requests).toHaveLength(3);
});

test("a message that has been turned away for long waits a tenth of that time, two minutes at most", async () => {
  gateway.behave({ status: 429 });
  const oldest = () => rig.channel.send(outgoingSms({ messageId: "oldest" }), never);
  await oldest();
  for (const [passed, wait] of [
    [10 * MINUTE, MINUTE],
    [50 * MINUTE, 2 * MINUTE],
  ] as const) {
    await rig.clock.advance(passed - 6 * SECOND);
    await send();
    await rig.clock.advance(6 * SECOND);
    expect((await oldest()).parts).toMatchObject([{ retryAfterMs: noSoonerThan(wait) }]);
  }
});

test("once the gateway answers any message, those that it has turned away are tried as all others", async () => {
  gateway.behave({ status: 429 });
  const again = () => rig.channel.send(outgoingSms({ messageId: "again" }), never);
  await again();
  await rig.clock.advance(SECOND);
  await again();
  await rig.clock.advance(2 * SECOND);
  expect((await again()).parts).toMatchObject([{ error: { code: "http.gives_way" } }]);
  gateway.behave({ status: 400 });
  await send();
  gateway.behave(ACCEPTED);
  expect((await again()).parts).toMatchObject([{ kind: "sent" }]);
});

test("the shorter of two rests does not end the longer one", async () => {
  gateway.behave(({ json }) => throttling(json.to === "+919876543210" ? 10 : 2));
  await Promise.all([send(), send("+919876543211")]);
  await expectRest(10_000, SLOTS);
});

test("a wait of an hour is the message's own: other messages are tried after five minutes", async () => {
  gateway.behave(throttling((2 * HOUR) / SECOND));
  expect((await send()).parts).toMatchObject([{ kind: "deferred", retryAfterMs: HOUR }]);
  await expectRest(5 * MINUTE, SLOTS);
});

test("a throttled gateway is up at a rate of nothing while it rests, so that others take its messages", async () => {
  gateway.behave(throttling(7));
  await send();
  expect(rig.channel.status()).toMatchObject({ state: "up", rate: { perSecond: 0, isReduced: true } });
  await rig.clock.advance(7_000);
  expect(rig.channel.status()).toMatchObject({ state: "up" });
  expect(rig.channel.status().rate).toBeUndefined();
});

test("the alarm of refused credentials lasts until an answer says otherwise, also between the tries", async () => {
  const seen = () => [rig.channel.status().state, rig.channel.status().alarm];
  expect(seen()).toEqual(["up", undefined]);
  gateway.behave({ status: 401, body: "no" });
  await send();
  expect(seen()).toEqual(["down", "credentials_refused"]);
  await rig.clock.advance(1_000);
  expect(seen()).toEqual(["up", "credentials_refused"]);
  expect(rig.channel.status().reason).toBe("HTTP 401");
  gateway.behave({ status: 400 });
  await send();
  await send();
  expect(seen()).toEqual(["up", undefined]);
  expect(rig.statuses.map(({ state }) => state)).toEqual(["up", "down", "up"]);
});

test("a gateway that cannot be reached is no matter of credentials", async () => {
  gateway.behave({ status: 401 });
  await send();
  await rig.clock.advance(1_000);
  await gateway.close();
  await send();
  expect(rig.channel.status()).toMatchObject({ state: "down", reason: expect.stringMatching(/./) });
  expect(rig.channel.status().alarm).toBeUndefined();
  gateway = await startFakeGateway(ACCEPTED, gateway.port);
  await rig.clock.advance(2_000);
  expect((await send()).parts[0]?.kind).toBe("sent");
  expect([rig.channel.status().state, rig.channel.freeSlots()]).toEqual(["up", SLOTS]);
});

test("a rest under way ends with the channel", async () => {
  gateway.behave({ status: 401 });
  await send();
  await rig.channel.stop();
  expect([rig.clock.pending(), rig.channel.status().state]).toEqual([0, "stopped"]);
});
