import { afterEach, expect, test } from "bun:test";
import type { FakeSmsc } from "../../../../../test/fakes/fake-smsc.ts";
import {
  closeSmppRigs,
  LONG_TEXT,
  openBoundSmppRig,
  openSmppRig,
  outgoingSms,
  sendThrough,
} from "../../../../../test/fakes/smpp-rig.ts";

afterEach(closeSmppRigs);

const pairs = { bind: "transmitter_receiver" };

async function openAllBound(options: Parameters<typeof openSmppRig>[0]) {
  const rig = await openBoundSmppRig(options);
  const { of } = rig.channel.status().binds!;
  await rig.until(() => rig.channel.status().binds!.up === of);
  return rig;
}

test("a pair submits on its transmitter and is delivered to on its receiver", async () => {
  const { channel, smsc, receipts, until } = await openAllBound({
    dial: { receipts: "after" },
    config: pairs,
  });
  expect(smsc.bound()).toEqual(["transmitter", "receiver"]);
  const outcome = await sendThrough(channel);
  await until(() => receipts.length === 1);
  expect(outcome.parts).toEqual([{ kind: "sent", providerMessageIds: [receipts[0]!.providerMessageId] }]);
});

test("several binds send side by side, each within its own window", async () => {
  const { channel, smsc } = await openAllBound({
    dial: { holdSubmits: true },
    config: { binds: 3, window: 2 },
  });
  expect(smsc.bound()).toEqual(["transceiver", "transceiver", "transceiver"]);
  expect(channel.freeSlots()).toBe(6);
  const sends = Array.from({ length: 8 }, () => sendThrough(channel));
  await smsc.until(() => smsc.submits.length === 6);
  expect(channel.freeSlots()).toBe(0);
  expect(smsc.submits.map(({ sequence }) => sequence).sort()).toEqual([2, 2, 2, 3, 3, 3]);
  smsc.release();
  for (const outcome of await Promise.all(sends)) expect(outcome.parts[0]!.kind).toBe("sent");
  expect(channel.freeSlots()).toBe(6);
});

const sequencesOf = (smsc: FakeSmsc) => smsc.submits.map(({ sequence }) => sequence);

test("the segments of one message go over one bind, also those of a later attempt", async () => {
  const statuses = [0, 0x08];
  const { channel, smsc } = await openAllBound({
    dial: { submitStatus: () => statuses.shift() },
    config: { binds: 2, window: 1 },
  });
  const message = outgoingSms({ text: LONG_TEXT });
  expect((await sendThrough(channel, message)).parts.map((part) => part?.kind)).toEqual(["sent", "deferred"]);
  const parts = [{ status: "sent" }, { status: "pending" }] as const;
  await sendThrough(channel, { ...message, parts });
  // Each bind counts from its own first request, the bind.
  expect(sequencesOf(smsc)).toEqual([2, 3, 4]);
});

test("a message that goes out again as a whole leaves a bind on which the SMSC has fallen silent", async () => {
  const { channel, smsc, clock } = await openAllBound({
    dial: { holdSubmits: true, ignoreEnquireLink: true },
    config: { binds: 2, window: 2, response_timeout_ms: 5_000 },
  });
  const message = outgoingSms({ text: LONG_TEXT });
  const silent = sendThrough(channel, message);
  await smsc.until(() => smsc.submits.length === 2);
  await clock.advance(5_000);
  expect((await silent).parts.map((part) => part?.kind)).toEqual(["unconfirmed", "unconfirmed"]);
  smsc.dial.holdSubmits = false;
  const parts = [{ status: "unconfirmed" }, { status: "unconfirmed" }] as const;
  const again = await sendThrough(channel, { ...message, parts, only: [0, 1] });
  expect(again.parts.map((part) => part?.kind)).toEqual(["sent", "sent"]);
  expect(sequencesOf(smsc)).toEqual([2, 3, 2, 3]);
});

test("the segments of a message that are left go over another bind once theirs is lost", async () => {
  const { channel, smsc } = await openAllBound({
    dial: { holdSubmits: true },
    config: { binds: 2, window: 1 },
  });
  const sending = sendThrough(channel, outgoingSms({ text: LONG_TEXT }));
  await smsc.until(() => smsc.submits.length === 1);
  expect(channel.freeSlots()).toBe(1);
  smsc.drop("transceiver");
  await smsc.until(() => smsc.submits.length === 2);
  smsc.release();
  expect((await sending).parts.map((part) => part?.kind)).toEqual(["unconfirmed", "sent"]);
  expect(sequencesOf(smsc)).toEqual([2, 2]);
});

test("a receipt counts on whichever bind it comes", async () => {
  const { channel, smsc, receipts } = await openAllBound({ config: { binds: 2 } });
  await sendThrough(channel);
  expect(await smsc.sendReceipt(smsc.submits[0]!)).toBe(0);
  smsc.drop("transceiver");
  await smsc.until(() => smsc.connections() === 1);
  expect(await smsc.sendReceipt(smsc.submits[0]!)).toBe(0);
  expect(receipts).toHaveLength(2);
});

test("one bind lost is a connector that goes on, says so, and is whole again by itself", async () => {
  const { channel, smsc, clock, statuses, logs, until } = await openAllBound({ config: { binds: 2 } });
  smsc.drop("transceiver");
  await until(() => channel.status().binds!.up === 1);
  expect(channel.status()).toMatchObject({
    state: "up",
    binds: { up: 1, of: 2 },
    reason: "1 of 2 binds are missing, a transceiver: the SMSC closed the connection",
  });
  expect(logs.at(-1)).toMatchObject({ level: "warn", text: "SMPP binds are missing" });
  expect(await sendThrough(channel)).toMatchObject({ parts: [{ kind: "sent" }] });
  await clock.advance(1000);
  await until(() => channel.status().binds!.up === 2);
  expect(channel.status().reason).toBeUndefined();
  expect(statuses.map(({ state }) => state)).toEqual(["connecting", "up"]);
});

test("a receiver alone carries nothing: without its transmitter the connector is down", async () => {
  const { channel, smsc, clock, state, until } = await openAllBound({ config: pairs });
  smsc.dial.bindStatus = (boundAs) => (boundAs === "transmitter" ? 0x0d : 0);
  smsc.drop("transmitter");
  await state("down");
  expect(channel.freeSlots()).toBe(0);
  expect(channel.status().binds).toEqual({ up: 1, of: 2 });
  expect(await sendThrough(channel)).toMatchObject({ parts: [{ kind: "deferred" }], countsAsAttempt: false });
  delete smsc.dial.bindStatus;
  await clock.advance(1000);
  await until(() => channel.status().state === "up");
});

test("without its receiver a pair still sends, and says that a receiver is missing", async () => {
  const { channel, until } = await openBoundSmppRig({
    dial: { bindStatus: (boundAs) => (boundAs === "receiver" ? 0x0d : 0) },
    config: pairs,
  });
  await until(() => channel.status().reason !== undefined);
  expect(channel.status().reason).toStartWith("1 of 2 binds are missing, a receiver: the SMSC refused");
  expect(await sendThrough(channel)).toMatchObject({ parts: [{ kind: "sent" }] });
});

test("a segment that waits while its bind is lost goes over another", async () => {
  const { channel, smsc, until } = await openAllBound({
    dial: { holdSubmits: true },
    config: { binds: 2, window: 1 },
  });
  const held = [sendThrough(channel), sendThrough(channel)];
  await smsc.until(() => smsc.submits.length === 2);
  const waiting = sendThrough(channel);
  smsc.drop("transceiver");
  await until(() => channel.status().binds!.up === 1);
  smsc.release();
  expect(await waiting).toMatchObject({ parts: [{ kind: "sent" }] });
  const kinds = (await Promise.all(held)).map(({ parts }) => parts[0]!.kind).sort();
  expect(kinds).toEqual(["sent", "unconfirmed"]);
});

test("a segment that waits for the only bind goes over another as soon as that is up", async () => {
  let binds = 0;
  const { channel, smsc, clock, until } = await openBoundSmppRig({
    dial: { holdSubmits: true, bindStatus: () => (++binds === 2 ? 0x0d : 0) },
    config: { binds: 2, window: 1 },
  });
  await until(() => channel.status().reason !== undefined);
  const sending = [sendThrough(channel), sendThrough(channel)];
  await smsc.until(() => smsc.submits.length === 1);
  await clock.advance(1000);
  await smsc.until(() => smsc.submits.length === 2);
  smsc.release();
  const kinds = (await Promise.all(sending)).map(({ parts }) => parts[0]!.kind);
  expect(kinds).toEqual(["sent", "sent"]);
});

test("a session fault replaces the session it came on, and leaves the others alone", async () => {
  const { channel, smsc, clock, until } = await openAllBound({ config: { binds: 2 } });
  smsc.dial.submitStatus = 0x04;
  expect(await sendThrough(channel)).toMatchObject({ parts: [{ kind: "deferred" }], countsAsAttempt: false });
  delete smsc.dial.submitStatus;
  expect(channel.freeSlots()).toBe(10);
  expect(await sendThrough(channel)).toMatchObject({ parts: [{ kind: "sent" }] });
  await until(() => channel.status().binds!.up === 1);
  await clock.advance(1000);
  await until(() => channel.status().binds!.up === 2);
  expect(channel.status().state).toBe("up");
});

test("stop says unbind on every bind", async () => {
  const { channel, smsc, statuses, logs } = await openAllBound({ config: { ...pairs, binds: 2 } });
  const warnings = () => logs.filter(({ level }) => level === "warn").length;
  const before = warnings();
  await channel.stop();
  // The first to be gone does not look like one that is lost.
  expect(warnings()).toBe(before);
  expect(smsc.others.map(({ commandId }) => commandId)).toEqual([0x06, 0x06, 0x06, 0x06]);
  expect(statuses.map(({ state }) => state)).toEqual(["connecting", "up", "stopped"]);
  expect(channel.status().binds).toEqual({ up: 0, of: 4 });
});

test.each([0x0e, 0x0f, 0x53])(
  "refused by name or password (%p), only one of many binds asks, once in five minutes, and an alarm is raised",
  async (bindStatus) => {
    const { channel, smsc, clock, state } = await openSmppRig({
      dial: { bindStatus },
      config: { ...pairs, binds: 4 },
    });
    channel.start();
    await state("down");
    expect(smsc.binds).toHaveLength(1);
    expect(channel.status()).toMatchObject({ alarm: "bind_refused", binds: { up: 0, of: 8 } });
    for (let minutes = 5; minutes <= 15; minutes += 5) {
      await clock.advance(299_000);
      expect(smsc.binds).toHaveLength(minutes / 5);
      await clock.advance(1000);
      await smsc.until(() => smsc.binds.length === minutes / 5 + 1);
      await state("down");
    }
    expect(channel.status().alarm).toBe("bind_refused");
  },
);

test("the alarm is over when the password is right, and all binds come back", async () => {
  const { channel, smsc, clock, state, until } = await openSmppRig({
    dial: { bindStatus: 0x0e },
    config: { binds: 2 },
  });
  channel.start();
  await state("down");
  delete smsc.dial.bindStatus;
  await clock.advance(300_000);
  await state("up");
  expect(channel.status().alarm).toBeUndefined();
  await clock.advance(30_000);
  await until(() => channel.status().binds!.up === 2);
});

test("once the password was right, a lost connection brings all binds back at once, and another refusal the alarm", async () => {
  const { channel, smsc, clock, state, until } = await openSmppRig({
    dial: { bindStatus: 0x0e },
    config: { binds: 3 },
  });
  const areUp = () => channel.status().binds!.up === 3;
  channel.start();
  await state("down");
  delete smsc.dial.bindStatus;
  await clock.advance(300_000);
  await state("up");
  await clock.advance(30_000);
  await until(areUp);
  smsc.dropAll();
  await state("down");
  await smsc.until(() => smsc.connections() === 0);
  await clock.advance(2_000);
  await until(areUp);
  smsc.dial.bindStatus = 0x0e;
  smsc.dropAll();
  await state("down");
  await clock.advance(2_000);
  await until(() => channel.status().alarm === "bind_refused");
});

test("a bind that the SMSC had accepted comes back at once where it refuses only another", async () => {
  const { channel, smsc, clock, state, until } = await openSmppRig({
    dial: { bindStatus: (boundAs) => (boundAs === "receiver" ? 0x0f : 0) },
    config: pairs,
  });
  channel.start();
  await until(() => channel.status().alarm === "bind_refused");
  expect(channel.status()).toMatchObject({ state: "up", binds: { up: 1, of: 2 } });
  smsc.dropAll();
  await state("down");
  await clock.advance(1_000);
  await state("up");
  expect(channel.status().alarm).toBe("bind_refused");
});

test("a bind that the SMSC would accept gets its turn to try where another is refused each time", async () => {
  const { channel, smsc, clock, state, until } = await openSmppRig({
    dial: { bindStatus: 0x0e },
    config: pairs,
  });
  channel.start();
  await until(() => channel.status().alarm === "bind_refused");
  // Now it is the receiver's turn, and from then on only receivers are refused.
  await clock.advance(299_999);
  smsc.dial.bindStatus = (boundAs) => (boundAs === "receiver" ? 0x0e : 0);
  await clock.advance(1);
  await smsc.until(() => smsc.binds.length === 2);
  await clock.advance(300_000);
  await clock.advance(1_000);
  await state("up");
});
