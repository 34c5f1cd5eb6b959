/** When a connector connects, and that it leaves nothing behind when it is to stop. */
import { afterEach, expect, test } from "bun:test";
import {
  closeSmppRigs,
  openBoundSmppRig,
  openSmppRig,
  outgoingSms,
  sendThrough,
} from "../../../../../test/fakes/smpp-rig.ts";
import { until } from "../../../../../test/until.ts";

afterEach(closeSmppRigs);

const UNBIND = 0x06;

test("stopped between two tries, it tries no more", async () => {
  const { channel, smsc, clock, state } = await openSmppRig({ dial: { bindStatus: 0x0d } });
  channel.start();
  await state("down");
  await channel.stop();
  expect(channel.status()).toEqual({
    state: "stopped",
    since: clock.now(),
    binds: { up: 0, of: 1 },
  });
  expect(clock.pending()).toBe(0);
  await clock.advance(120_000);
  expect(smsc.binds).toHaveLength(1);
});

test("stopped while a refused password holds it back, it tries no more", async () => {
  const { channel, smsc, clock, until } = await openSmppRig({
    dial: { bindStatus: 0x0e },
    config: { binds: 2 },
  });
  channel.start();
  await until(() => channel.status().alarm !== undefined);
  await clock.advance(1000);
  await channel.stop();
  expect(clock.pending()).toBe(0);
  await clock.advance(600_000);
  expect(smsc.binds).toHaveLength(1);
});

test("stopped before its bind is answered, it hangs up at once", async () => {
  const { channel, smsc, clock } = await openSmppRig({ dial: { ignoreBind: true } });
  channel.start();
  await smsc.until(() => smsc.binds.length === 1);
  await channel.stop();
  await smsc.until(() => smsc.connections() === 0);
  expect(channel.status().state).toBe("stopped");
  expect(smsc.others).toEqual([]);
  expect(clock.pending()).toBe(0);
});

test("started twice it connects once, stopped twice it unbinds once, and it does not start again", async () => {
  const { channel, smsc, clock, state } = await openSmppRig();
  channel.start();
  channel.start();
  await state("up");
  const stops = [channel.stop(), channel.stop()];
  channel.start();
  await Promise.all(stops);
  channel.start();
  await clock.advance(60_000);
  expect(smsc.binds).toHaveLength(1);
  expect(smsc.others.map(({ commandId }) => commandId)).toEqual([UNBIND]);
  expect(clock.pending()).toBe(0);
});

test("stopped before it was started it never connects", async () => {
  const { channel, smsc, clock } = await openSmppRig();
  await channel.stop();
  channel.start();
  await clock.advance(60_000);
  expect(smsc.connections()).toBe(0);
  expect(channel.status().state).toBe("stopped");
});

test("stop waits for answers under way, and takes nothing more meanwhile", async () => {
  const { channel, smsc, clock } = await openBoundSmppRig({ dial: { holdSubmits: true } });
  // One has been answered before, so that the window was empty once.
  smsc.release();
  await sendThrough(channel);
  smsc.dial.holdSubmits = true;
  const sending = sendThrough(channel);
  await smsc.until(() => smsc.submits.length === 2);
  const stopping = channel.stop();
  expect(channel.freeSlots()).toBe(0);
  expect(await sendThrough(channel)).toMatchObject({ parts: [{ kind: "deferred" }] });
  await clock.advance(9999);
  expect(smsc.others).toEqual([]);
  smsc.release();
  expect(await sending).toMatchObject({ parts: [{ kind: "sent" }] });
  await stopping;
  expect(smsc.others.map(({ commandId }) => commandId)).toEqual([UNBIND]);
  expect(smsc.submits).toHaveLength(2);
  expect(clock.pending()).toBe(0);
});

test("stop acknowledges the receipts that are being stored, and only then unbinds", async () => {
  const [given, stored] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const { channel, smsc, clock } = await openBoundSmppRig({
    deps: {
      onReceipts() {
        given.resolve();
        return stored.promise;
      },
    },
  });
  await sendThrough(channel);
  const acknowledged = smsc.sendReceipt(smsc.submits[0]!);
  await given.promise;
  const stopping = channel.stop();
  await clock.advance(1999);
  expect(smsc.others).toEqual([]);
  stored.resolve();
  expect(await acknowledged).toBe(0);
  await stopping;
  expect(smsc.others.map(({ commandId }) => commandId)).toEqual([0x80000005, UNBIND]);
  expect(clock.pending()).toBe(0);
});

test("stop waits for the end of a session that is not the first, too", async () => {
  const { channel, smsc, clock, state } = await openBoundSmppRig();
  smsc.dropAll();
  await state("down");
  await clock.advance(750);
  await state("up");
  await channel.stop();
  expect(smsc.others.map(({ commandId }) => commandId)).toEqual([UNBIND]);
  expect(clock.pending()).toBe(0);
});

test("stop waits for an answer as long as for any other, and no longer", async () => {
  const { channel, smsc, clock } = await openBoundSmppRig({
    dial: { holdSubmits: true },
    config: { response_timeout_ms: 20_000 },
  });
  const sending = sendThrough(channel);
  await smsc.until(() => smsc.submits.length === 1);
  const stopping = channel.stop();
  await clock.advance(19_999);
  expect(smsc.others).toEqual([]);
  await clock.advance(1);
  await stopping;
  expect(await sending).toMatchObject({ parts: [{ kind: "unconfirmed" }] });
  expect(clock.pending()).toBe(0);
});

test("stop does not wait for an answer that nobody waits for any more", async () => {
  const { channel, smsc, clock } = await openBoundSmppRig({ dial: { holdSubmits: true } });
  const controller = new AbortController();
  const sending = channel.send(outgoingSms(), controller.signal);
  await smsc.until(() => smsc.submits.length === 1);
  const stopping = channel.stop();
  controller.abort();
  await Promise.all([sending, stopping]);
  expect(smsc.others.map(({ commandId }) => commandId)).toEqual([UNBIND]);
  expect(clock.pending()).toBe(0);
});

test("sessions that are lost soon are opened ever later, until one has held for ten seconds", async () => {
  const { channel, smsc, clock, state } = await openBoundSmppRig();
  const waitToReconnect = async () => {
    smsc.dropAll();
    await state("down");
    const from = clock.now();
    const stateLater = async () => {
      await clock.advance(50);
      return channel.status().state;
    };
    await until(stateLater, (now) => now !== "down", { pauseMs: 0 });
    const waitedMs = clock.now() - from;
    await state("up");
    return waitedMs;
  };
  const hold = async (ms: number) => {
    await clock.advance(ms);
    // The SMSC shows that it lives.
    await smsc.request(0x15);
  };
  expect(await waitToReconnect()).toBe(750);
  await hold(9_900);
  expect(await waitToReconnect()).toBe(1500);
  expect(await waitToReconnect()).toBe(3000);
  await hold(10_000);
  expect(await waitToReconnect()).toBe(750);
});

test("a session that is replaced is left after its answers, and the status tells why until the next is bound", async () => {
  const { channel, smsc, clock, state } = await openBoundSmppRig({ dial: { holdSubmits: true } });
  const first = sendThrough(channel);
  await smsc.until(() => smsc.submits.length === 1);
  smsc.dial.holdSubmits = false;
  smsc.dial.submitStatus = 0x04;
  expect(await sendThrough(channel)).toMatchObject({ parts: [{ kind: "deferred" }] });
  delete smsc.dial.submitStatus;
  // The SMSC has read all that was sent when this is answered.
  await smsc.request(0x15);
  expect(smsc.others.filter(({ commandId }) => commandId === UNBIND)).toEqual([]);
  smsc.release();
  expect(await first).toMatchObject({ parts: [{ kind: "sent" }] });
  await state("down");
  await clock.advance(750);
  await state("up");
  expect(channel.status().reason).toBeUndefined();
  expect(smsc.binds).toHaveLength(2);
});

test("a session that the SMSC has called broken is left after ten seconds, although an answer may take longer", async () => {
  const { channel, smsc, clock } = await openBoundSmppRig({ dial: { holdSubmits: true } });
  const first = sendThrough(channel);
  await smsc.until(() => smsc.submits.length === 1);
  smsc.dial.holdSubmits = false;
  smsc.dial.submitStatus = 0x04;
  await sendThrough(channel);
  await clock.advance(10_000);
  await smsc.until(() => smsc.others.some(({ commandId }) => commandId === UNBIND));
  expect((await first).parts).toMatchObject([{ kind: "unconfirmed" }]);
});
