/** A connector that several processes share: this process uses the binds, and the part of the rate, that it holds. */
import { afterEach, expect, test } from "bun:test";
import { closeSmppRigs, openSmppRig, sendThrough } from "../../../../test/fakes/smpp-rig.ts";

afterEach(closeSmppRigs);

function createShare(of: number, ...first: number[]) {
  let held = new Set(first);
  const listeners: ((limitMs?: number) => Promise<void>)[] = [];
  const set = (...numbers: number[]) => {
    held = new Set(numbers);
  };
  const tell = (limitMs?: number) => Promise.all(listeners.map((listener) => listener(limitMs)));
  const share = {
    of,
    held: () => held,
    onChange: (listener: (typeof listeners)[0]) => void listeners.push(listener),
  };
  return { share, set, tell };
}

async function openShared(
  { share, ...tools }: ReturnType<typeof createShare>,
  { dial = {}, config = {} }: Parameters<typeof openSmppRig>[0] = {},
) {
  const rig = await openSmppRig({ dial, config: { binds: share.of, ...config }, deps: { share } });
  const areUp = (count: number) => rig.until(() => rig.channel.status().binds!.up === count);
  rig.channel.start();
  return { ...rig, ...tools, areUp };
}

test("only the binds that this process holds are opened, and others as soon as it holds them", async () => {
  const { channel, smsc, areUp, set, tell } = await openShared(createShare(4, 2));
  await areUp(1);
  expect(smsc.bound()).toHaveLength(1);
  expect(channel.status().binds).toEqual({ up: 1, of: 1 });
  expect(channel.freeSlots()).toBe(10);
  set(0, 2, 3);
  await tell();
  await areUp(3);
  expect(smsc.binds).toHaveLength(3);
  expect(channel.status().binds).toEqual({ up: 3, of: 3 });
  expect(channel.freeSlots()).toBe(30);
});

test("a slot of a pair is a transmitter and its receiver", async () => {
  const { smsc, areUp, set, tell } = await openShared(createShare(3, 0), {
    config: { bind: "transmitter_receiver" },
  });
  await areUp(2);
  expect(smsc.bound().toSorted()).toEqual(["receiver", "transmitter"]);
  set(0, 2);
  await tell();
  await areUp(4);
  expect(smsc.bound().toSorted()).toEqual(["receiver", "receiver", "transmitter", "transmitter"]);
});

test("a process that holds nothing is stopped, and sends nothing", async () => {
  const { channel, smsc, clock } = await openShared(createShare(2));
  await clock.advance(60_000);
  expect(channel.status()).toMatchObject({ state: "stopped", binds: { up: 0, of: 0 } });
  expect(channel.freeSlots()).toBe(0);
  expect(await sendThrough(channel)).toMatchObject({ parts: [{ kind: "deferred" }], countsAsAttempt: false });
  expect(smsc.connections()).toBe(0);
});

test("a refused bind whose slot goes to another process is no alarm of this one", async () => {
  let binds = 0;
  const { channel, until, set, tell } = await openShared(createShare(2, 0, 1), {
    dial: { bindStatus: () => (++binds === 1 ? 0 : 0x0e) },
  });
  await until(() => channel.status().alarm === "bind_refused");
  set(0);
  await tell();
  expect(channel.status()).toMatchObject({ state: "up", binds: { up: 1, of: 1 } });
  expect(channel.status().alarm).toBeUndefined();
});

test("a bind that is not held any more takes nothing from then on, even before it is left", async () => {
  const { channel, smsc, areUp, set, tell } = await openShared(createShare(2, 0, 1));
  await areUp(2);
  set(1);
  expect(channel.freeSlots()).toBe(10);
  set();
  expect(channel.freeSlots()).toBe(0);
  expect(await sendThrough(channel)).toMatchObject({
    parts: [{ kind: "deferred", error: { code: "smpp.handed_over" } }],
  });
  await tell();
  await smsc.until(() => smsc.connections() === 0);
  expect(smsc.others.map(({ commandId }) => commandId)).toEqual([0x06, 0x06]);
  expect(smsc.submits).toHaveLength(0);
});

test("a stop waits for a bind that is just being left: until it is gone, its slot must be nobody else's", async () => {
  const { channel, smsc, clock, areUp, set, tell } = await openShared(createShare(2, 0, 1), {
    dial: { holdSubmits: true },
  });
  await areUp(2);
  const sending = sendThrough(channel);
  await smsc.until(() => smsc.submits.length === 1);
  set(1);
  const left = tell();
  const order: string[] = [];
  const stopping = channel.stop().then(() => order.push("stopped"));
  await smsc.until(() => smsc.connections() === 1);
  // Time enough for the other bind to notice that it has ended.
  await clock.advance(5_000);
  smsc.release();
  await sending.then(() => order.push("answered"));
  await Promise.all([left, stopping]);
  expect(order).toEqual(["answered", "stopped"]);
  expect(smsc.connections()).toBe(0);
});

test("a bind whose slot goes to another process while the connector stops is waited for, and cut after the same limit", async () => {
  const { channel, smsc, clock, areUp, set, tell } = await openShared(createShare(2, 0, 1), {
    dial: { holdSubmits: true },
  });
  await areUp(2);
  const sending = sendThrough(channel);
  await smsc.until(() => smsc.submits.length === 1);
  const stopping = channel.stop();
  await smsc.until(() => smsc.connections() === 1);
  set(1);
  let isLeft = false;
  const left = tell(3_000).then(() => {
    isLeft = true;
  });
  await clock.advance(2_000);
  expect([isLeft, smsc.connections()]).toEqual([false, 1]);
  await clock.advance(1_000);
  await Promise.all([left, stopping]);
  expect(await sending).toMatchObject({
    parts: [{ kind: "unconfirmed", error: { message: expect.stringContaining("another process") } }],
  });
  expect(clock.pending()).toBe(0);
});

test("what waits while its connector goes to another process is left to that one: nobody has put it off", async () => {
  const handedOver = {
    kind: "deferred",
    error: { code: "smpp.handed_over" },
    isOwnPace: true,
    retryAfterMs: 1,
  };
  const { channel, smsc, areUp, set, tell, clock } = await openShared(createShare(1, 0), {
    config: { max_per_second_per_sender: 1 },
  });
  await areUp(1);
  await sendThrough(channel);
  const waitsForItsTurn = sendThrough(channel);
  set();
  await tell();
  await clock.advance(1_000);
  expect(await waitsForItsTurn).toMatchObject({ parts: [handedOver], countsAsAttempt: false });
  expect(smsc.submits).toHaveLength(1);
});

test("what waits for the window while its connector goes to another process is left to that one", async () => {
  const { channel, smsc, areUp, set, tell } = await openShared(createShare(1, 0), {
    dial: { holdSubmits: true },
    config: { window: 1 },
  });
  await areUp(1);
  const first = sendThrough(channel);
  await smsc.until(() => smsc.submits.length === 1);
  const waitsForTheWindow = sendThrough(channel);
  set();
  const left = tell();
  expect(await waitsForTheWindow).toMatchObject({ parts: [{ error: { code: "smpp.handed_over" } }] });
  smsc.release();
  expect(await first).toMatchObject({ parts: [{ kind: "sent" }] });
  await left;
});

test("a bind is let go once its answers have come, and the others stay", async () => {
  const { channel, smsc, areUp, set, tell, clock } = await openShared(createShare(2, 0, 1), {
    dial: { holdSubmits: true },
    config: { window: 1 },
  });
  await areUp(2);
  const sending = [sendThrough(channel), sendThrough(channel)];
  await smsc.until(() => smsc.submits.length === 2);
  let isLeft = false;
  set(1);
  const leaving = tell(5000).then(() => {
    isLeft = true;
  });
  await clock.advance(4000);
  expect(isLeft).toBe(false);
  smsc.release();
  await leaving;
  expect((await Promise.all(sending)).map(({ parts }) => parts[0]?.kind)).toEqual(["sent", "sent"]);
  expect(channel.status().binds).toEqual({ up: 1, of: 1 });
  await smsc.until(() => smsc.connections() === 1);
  // One timer is left: that of the bind that stays.
  expect(clock.pending()).toBe(1);
});

test("after its limit a bind is cut, whatever is under way: another process has its place by then", async () => {
  const { channel, smsc, areUp, set, tell, clock } = await openShared(createShare(1, 0), {
    dial: { holdSubmits: true },
  });
  await areUp(1);
  const sending = sendThrough(channel);
  await smsc.until(() => smsc.submits.length === 1);
  set();
  const leaving = tell(3000);
  expect(channel.status()).toMatchObject({ state: "stopped", binds: { up: 0, of: 0 } });
  await clock.advance(3000);
  await leaving;
  expect(await sending).toMatchObject({
    parts: [{ kind: "unconfirmed", error: { message: expect.stringContaining("another process") } }],
  });
  expect(clock.pending()).toBe(0);
});

test("a bind that comes back is opened anew, and after the stop nothing is", async () => {
  const { channel, smsc, areUp, set, tell } = await openShared(createShare(1, 0));
  await areUp(1);
  set();
  await tell();
  await smsc.until(() => smsc.connections() === 0);
  set(0);
  await tell();
  await areUp(1);
  expect(await sendThrough(channel)).toMatchObject({ parts: [{ kind: "sent" }] });
  await channel.stop();
  set(0);
  await tell();
  expect(smsc.binds).toHaveLength(2);
});

test("the rate is divided like the binds, and what this process does not hold it does not use", async () => {
  const { channel, areUp, set, tell } = await openShared(createShare(4, 0), {
    config: { max_per_second: 100 },
  });
  await areUp(1);
  expect(channel.status().rate).toEqual({ perSecond: 25, isReduced: false });
  set(0, 1, 3);
  await tell();
  expect(channel.status().rate).toEqual({ perSecond: 75, isReduced: false });
  set();
  await tell();
  expect(channel.status().rate).toEqual({ perSecond: 75, isReduced: false });
});
