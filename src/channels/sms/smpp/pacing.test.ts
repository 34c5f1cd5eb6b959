/** How the channel keeps to rates: its own, and what the SMSC asks for. */
import { afterEach, expect, test } from "bun:test";
import {
  closeSmppRigs,
  LONG_TEXT,
  openBoundSmppRig,
  outgoingSms,
  sendThrough,
} from "../../../../test/fakes/smpp-rig.ts";

afterEach(closeSmppRigs);

test("a rate counts segments, and a long message is spread over the time it takes", async () => {
  const { channel, smsc, clock } = await openBoundSmppRig({ config: { max_per_second: 2 } });
  const sending = sendThrough(channel, outgoingSms({ text: LONG_TEXT.repeat(2) }));
  await smsc.until(() => smsc.submits.length === 1);
  expect(channel.freeSlots()).toBe(0);
  for (let segment = 2; segment <= 3; segment++) {
    await clock.advance(499);
    await smsc.request(0x15);
    expect(smsc.submits).toHaveLength(segment - 1);
    await clock.advance(1);
    await smsc.until(() => smsc.submits.length === segment);
  }
  expect((await sending).parts.map((part) => part?.kind)).toEqual(["sent", "sent", "sent"]);
});

test("a channel that follows another of its connector waits for a second, whose rate that may have used", async () => {
  const { channel, smsc, clock } = await openBoundSmppRig({
    config: { max_per_second: 8 },
    deps: { isRateUsed: true },
  });
  expect(channel.freeSlots()).toBe(0);
  const sending = [sendThrough(channel), sendThrough(channel)];
  const arrived = async (ms: number) => {
    await clock.advance(ms);
    await smsc.request(0x15);
    return smsc.submits.length;
  };
  expect([await arrived(1_000), await arrived(135)]).toEqual([0, 2]);
  await Promise.all(sending);
});

test("once a segment is refused, the rest of its message uses up none of the rate", async () => {
  const { channel, smsc, clock } = await openBoundSmppRig({
    dial: { submitStatus: 0x0b },
    config: { max_per_second: 1 },
  });
  const refused = sendThrough(channel, outgoingSms({ text: LONG_TEXT.repeat(4) }));
  await smsc.until(() => smsc.submits.length === 1);
  // The answer is in once this is answered. By then the second segment is in line.
  await smsc.request(0x15);
  await clock.advance(1000);
  expect((await refused).parts.map((part) => part?.kind)).toEqual(Array(5).fill("rejected"));
  delete smsc.dial.submitStatus;
  const other = sendThrough(channel);
  await clock.advance(1000);
  expect(await other).toMatchObject({ parts: [{ kind: "sent" }] });
  expect(smsc.submits).toHaveLength(2);
});

test("a message whose last segment would come too late at this rate is not begun, and uses up none of it", async () => {
  const { channel, smsc } = await openBoundSmppRig({ config: { max_per_second: 1 } });
  const text = LONG_TEXT.repeat(4);
  const outcome = await sendThrough(channel, outgoingSms({ text, remainingMs: 4000 }));
  const tooLate = () => ({ kind: "deferred", error: { code: "smpp.too_late" }, retryAfterMs: 2000 });
  expect(outcome).toMatchObject({ parts: Array.from({ length: 5 }, tooLate), countsAsAttempt: false });
  expect(smsc.submits).toHaveLength(0);
});

test("once a segment is out the others follow while there is time, in this attempt and in the next", async () => {
  const { channel, smsc, clock } = await openBoundSmppRig({ config: { max_per_second: 1 } });
  const text = LONG_TEXT.repeat(4);
  const first = outgoingSms({ text, remainingMs: 4001 });
  const sending = sendThrough(channel, first);
  for (let segment = 1; segment <= 5; segment++) {
    await smsc.until(() => smsc.submits.length === segment);
    await clock.advance(1000);
  }
  expect((await sending).parts.map((part) => part?.kind)).toEqual(Array(5).fill("sent"));
  const pending = { status: "pending" } as const;
  const parts = [pending, { status: "sent" } as const, pending, pending, pending];
  const again = sendThrough(channel, { ...first, parts, remainingMs: 2500 });
  for (let segment = 6; segment <= 8; segment++) {
    await smsc.until(() => smsc.submits.length === segment);
    await clock.advance(1000);
  }
  const kinds = (await again).parts.map((part) => part?.kind);
  expect(kinds).toEqual(["sent", undefined, "sent", "sent", "deferred"]);
});

test("where a message's window ends while a segment waits for the rate, the others do not wait as well", async () => {
  const { channel, smsc, clock } = await openBoundSmppRig({ config: { max_per_second: 1 } });
  await sendThrough(channel);
  const pending = { status: "pending" } as const;
  const parts = [{ status: "sent" } as const, pending, pending, pending, pending];
  const late = sendThrough(channel, outgoingSms({ text: LONG_TEXT.repeat(4), parts, remainingMs: 500 }));
  await clock.advance(1000);
  const tooLate = () => ({ kind: "deferred", error: { code: "smpp.too_late" } });
  expect((await late).parts).toMatchObject([undefined, tooLate(), tooLate(), tooLate(), tooLate()]);
  expect(smsc.submits).toHaveLength(1);
});

/** The seconds for which each segment is valid, of a long message that goes out at this rate with so much left of its window. */
async function validities(perSecond: number, { remainingMs }: { remainingMs: number }) {
  const { channel, smsc, clock } = await openBoundSmppRig({ config: { max_per_second: perSecond } });
  const sending = sendThrough(channel, outgoingSms({ text: LONG_TEXT.repeat(4), remainingMs }));
  for (let segment = 1; segment <= 5; segment++) {
    await smsc.until(() => smsc.submits.length === segment);
    if (segment < 5) await clock.advance(1000 / perSecond);
  }
  await sending;
  return smsc.submits.map(
    ({ validityPeriod: period }) => Number(period.slice(8, 10)) * 60 + Number(period.slice(10, 12)),
  );
}

test("all segments of a message have the same validity period, since some SMSCs join only those that have", async () => {
  expect(await validities(0.5, { remainingMs: 600_500 })).toEqual([600, 600, 600, 600, 600]);
});

test("no segment is valid for more than a tenth longer than its window, nor for more than ten seconds longer", async () => {
  expect(await validities(1, { remainingMs: 20_500 })).toEqual([20, 20, 18, 18, 16]);
  expect(await validities(0.25, { remainingMs: 600_500 })).toEqual([600, 600, 600, 588, 588]);
});

test("all binds of a connector share its rate", async () => {
  const { channel, until, smsc } = await openBoundSmppRig({
    dial: { holdSubmits: true },
    config: { max_per_second: 40, binds: 4 },
  });
  await until(() => channel.status().binds!.up === 4);
  void Array.from({ length: 30 }, () => sendThrough(channel));
  await smsc.until(() => smsc.submits.length >= 10);
  await smsc.request(0x15);
  expect(smsc.submits).toHaveLength(10);
  smsc.release();
});

test("what may go at once after a silence is part of that second's rate: an SMSC that counts has nothing to throttle", async () => {
  const { channel, clock, smsc } = await openBoundSmppRig({ config: { max_per_second: 40, window: 100 } });
  const sending = Array.from({ length: 60 }, () => sendThrough(channel));
  const arrived = async (ms: number) => {
    for (let step = 0; step < ms; step += 50) {
      await clock.advance(50);
      await smsc.request(0x15);
    }
    return smsc.submits.length;
  };
  await smsc.until(() => smsc.submits.length === 10);
  expect(await arrived(1000)).toBe(40);
  expect(await arrived(600)).toBe(60);
  await Promise.all(sending);
});

test("while it waits for its rate, the channel says when it may be handed more", async () => {
  const { channel, clock, until } = await openBoundSmppRig({ config: { max_per_second: 1 } });
  await sendThrough(channel);
  expect(channel.freeSlots()).toBe(0);
  const freed = until(() => channel.freeSlots() > 0);
  await clock.advance(1000);
  await freed;
});

test("throttled, the connector goes slower, says so, and is as fast as before after a while", async () => {
  const { channel, smsc, clock } = await openBoundSmppRig({
    dial: { throttle: 1 },
    config: { max_per_second: 100 },
  });
  expect(channel.status().rate).toEqual({ perSecond: 100, isReduced: false });
  expect(await sendThrough(channel)).toMatchObject({ parts: [{ kind: "deferred" }], countsAsAttempt: false });
  expect(channel.status().rate).toEqual({ perSecond: 50, isReduced: true });
  expect(channel.status().state).toBe("up");
  const waiting = sendThrough(channel);
  await smsc.request(0x15);
  expect(smsc.submits).toHaveLength(1);
  await clock.advance(1000);
  expect(await waiting).toMatchObject({ parts: [{ kind: "sent" }] });
  await clock.advance(10_000);
  expect(channel.status().rate).toEqual({ perSecond: 100, isReduced: false });
});

test("without a rate of its own, a throttled connector goes half as fast as the SMSC was taking", async () => {
  const { channel, smsc } = await openBoundSmppRig();
  for (let sent = 0; sent < 10; sent++) await sendThrough(channel);
  expect(channel.status().rate).toBeUndefined();
  smsc.dial.throttle = 1;
  await sendThrough(channel);
  expect(channel.status().rate).toEqual({ perSecond: 5, isReduced: true });
});

test("a segment in line for the slot of a throttled one waits as long as all others", async () => {
  const { channel, smsc, clock } = await openBoundSmppRig({ dial: { throttle: 1 }, config: { window: 1 } });
  const throttled = sendThrough(channel);
  const next = sendThrough(channel);
  expect(await throttled).toMatchObject({ parts: [{ kind: "deferred" }] });
  await clock.advance(999);
  await smsc.request(0x15);
  expect(smsc.submits).toHaveLength(1);
  await clock.advance(1);
  expect(await next).toMatchObject({ parts: [{ kind: "sent" }] });
});

test("a recipient's full queue costs no attempt, brings that message back later, and slows down no others", async () => {
  const { channel, smsc } = await openBoundSmppRig({ config: { max_per_second: 100 } });
  for (let round = 0; round < 3; round++) {
    smsc.dial.submitStatus = 0x14;
    expect(await sendThrough(channel, outgoingSms({ to: `+91987654320${round}` }))).toMatchObject({
      parts: [{ kind: "deferred", retryAfterMs: 30_000, error: { code: "smpp.0x00000014" } }],
      countsAsAttempt: false,
    });
    delete smsc.dial.submitStatus;
    expect(await sendThrough(channel)).toMatchObject({ parts: [{ kind: "sent" }] });
  }
  expect(channel.status().rate).toEqual({ perSecond: 100, isReduced: false });
});

test("a message to a recipient whose queue stays full is tried ever more rarely", async () => {
  const { channel, smsc, clock } = await openBoundSmppRig({ dial: { submitStatus: 0x14 } });
  const message = outgoingSms();
  const waits: unknown[] = [];
  for (let tries = 0; tries < 6; tries++) {
    const { parts } = await sendThrough(channel, message);
    waits.push(parts[0]?.kind === "deferred" && parts[0].retryAfterMs);
    await clock.advance(30_000);
    await smsc.request(0x15);
  }
  expect(waits).toEqual([30_000, 30_000, 30_000, 30_000, 60_000, 120_000]);
});

test("an SMSC whose queue is full for one recipient after the other is sent half as much", async () => {
  const { channel } = await openBoundSmppRig({
    dial: { submitStatus: 0x14 },
    config: { max_per_second: 100 },
  });
  for (let n = 0; n < 3; n++) await sendThrough(channel, outgoingSms({ to: `+91987654320${n}` }));
  expect(channel.status().rate).toEqual({ perSecond: 50, isReduced: true });
});
