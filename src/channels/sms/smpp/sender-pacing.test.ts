/** How the channel keeps each sender to its rate. */
import { afterEach, expect, test } from "bun:test";
import {
  closeSmppRigs,
  LONG_TEXT,
  openBoundSmppRig,
  openSmppRig,
  outgoingSms,
  sendThrough,
} from "../../../../test/fakes/smpp-rig.ts";

afterEach(closeSmppRigs);

test("a sender over its rate waits in line; beyond that it is put off without an attempt; other senders go at once", async () => {
  const { channel, smsc, clock } = await openBoundSmppRig({ config: { max_per_second_per_sender: 1 } });
  const fromShop = () => sendThrough(channel, outgoingSms({ from: "SHOP" }));
  const sent = { parts: [{ kind: "sent" }] };
  expect(await fromShop()).toMatchObject(sent);
  const inLine = [fromShop(), fromShop()];
  expect(await fromShop()).toMatchObject({
    parts: [{ kind: "deferred", error: { code: "smpp.sender_rate" } }],
    countsAsAttempt: false,
  });
  expect(await sendThrough(channel, outgoingSms({ from: "BANK" }))).toMatchObject({ ...sent });
  for (const [n, waiting] of inLine.entries()) {
    await clock.advance(999);
    await smsc.request(0x15);
    expect(smsc.submits).toHaveLength(2 + n);
    await clock.advance(1);
    expect(await waiting).toMatchObject({ parts: [{ kind: "sent" }] });
  }
});

test("messages that are put off for their sender's rate are to come back one by one, as they can be sent", async () => {
  const { channel, clock } = await openBoundSmppRig({ config: { max_per_second_per_sender: 1 } });
  const inLine = Array.from({ length: 3 }, () => sendThrough(channel));
  const putOff = await Promise.all(Array.from({ length: 4 }, () => sendThrough(channel)));
  expect(putOff.map(({ parts }) => parts)).toMatchObject(
    [2_000, 3_000, 4_000, 5_000].map((retryAfterMs) => [{ kind: "deferred", retryAfterMs }]),
  );
  await clock.advance(3_000);
  await Promise.all(inLine);
});

test("what a message waits for its sender's rate is not part of its validity period", async () => {
  const { channel, smsc, clock } = await openBoundSmppRig({ config: { max_per_second_per_sender: 1 } });
  await sendThrough(channel, outgoingSms({ remainingMs: 60_000 }));
  const second = sendThrough(channel, outgoingSms({ remainingMs: 60_000 }));
  await clock.advance(1000);
  await second;
  expect(smsc.submits.map(({ validityPeriod }) => validityPeriod)).toEqual([
    "000000000100000R",
    "000000000059000R",
  ]);
});

test("a sender's rate counts the segments that are still to be sent", async () => {
  const { channel, smsc, clock } = await openBoundSmppRig({ config: { max_per_second_per_sender: 2 } });
  const parts = [{ status: "sent" }, { status: "pending" }] as const;
  await sendThrough(channel, outgoingSms({ text: LONG_TEXT, parts }));
  const next = sendThrough(channel);
  await clock.advance(499);
  await smsc.request(0x15);
  expect(smsc.submits).toHaveLength(1);
  await clock.advance(1);
  expect(await next).toMatchObject({ parts: [{ kind: "sent" }] });
});

test("a sender's rate counts the segments of a message that goes whole in message_payload", async () => {
  const { channel, smsc, clock } = await openBoundSmppRig({
    config: { max_per_second_per_sender: 2, concat: "payload" },
  });
  await sendThrough(channel, outgoingSms({ text: LONG_TEXT }));
  expect(smsc.submits).toHaveLength(1);
  const next = sendThrough(channel);
  await clock.advance(999);
  await smsc.request(0x15);
  expect(smsc.submits).toHaveLength(1);
  await clock.advance(1);
  expect(await next).toMatchObject({ parts: [{ kind: "sent" }] });
});

test.each([1, 2, 5])(
  "at %p a second for its sender a long message goes segment by segment, and the next message behind it",
  async (rate) => {
    const { channel, smsc, clock } = await openBoundSmppRig({ config: { max_per_second_per_sender: rate } });
    const startedAt = clock.monotonicMs();
    const segments = 2 * rate;
    const long = sendThrough(channel, outgoingSms({ text: "x".repeat(150 * segments) }));
    const next = sendThrough(channel);
    const times: number[] = [];
    for (let ms = 0; ms <= 2020; ms += 10) {
      await smsc.request(0x15);
      while (times.length < smsc.submits.length) times.push(clock.monotonicMs() - startedAt);
      await clock.advance(10);
    }
    // After each second's worth the margin of 10 ms, except where each segment is a second's worth.
    const marginMs = rate > 1 ? 10 : 0;
    const expected = Array.from(
      { length: segments + 1 },
      (_, n) => (n * 1000) / rate + Math.floor(n / rate) * marginMs,
    );
    expect(times).toEqual(expected);
    expect((await long).parts.map((part) => part?.kind)).toEqual(Array(segments).fill("sent"));
    expect((await next).parts.map((part) => part?.kind)).toEqual(["sent"]);
  },
);

test("of a message that is long for its sender's rate the rest comes in another turn, and costs no attempt", async () => {
  const { channel, smsc, clock } = await openBoundSmppRig({
    config: { max_per_second_per_sender: 1, response_timeout_ms: 6000 },
  });
  const message = outgoingSms({ text: "x".repeat(150 * 6) });
  const sending = sendThrough(channel, message);
  for (let ms = 0; ms < 2000; ms += 1000) {
    await smsc.request(0x15);
    await clock.advance(1000);
  }
  const outcome = await sending;
  expect(outcome.countsAsAttempt).toBe(false);
  const wait = { kind: "deferred", error: { code: "smpp.sender_rate" }, retryAfterMs: 1000, isOwnPace: true };
  const kinds = outcome.parts.map((part) => part?.kind);
  expect(kinds).toEqual([...Array(3).fill("sent"), ...Array(3).fill("deferred")]);
  expect(outcome.parts[5]).toMatchObject(wait);
});

test("of a long message that was nearly sent before, only the rest takes a turn, and is sent in it", async () => {
  const { channel, smsc } = await openBoundSmppRig({ config: { max_per_second_per_sender: 1 } });
  const parts = Array.from({ length: 20 }, (_, segment) => ({
    status: segment < 19 ? ("sent" as const) : ("pending" as const),
  }));
  const outcome = await sendThrough(channel, outgoingSms({ text: "x".repeat(150 * 20), parts }));
  expect(outcome.parts.map((part) => part?.kind)).toEqual([...Array(19).fill(undefined), "sent"]);
  expect(smsc.submits).toHaveLength(1);
});

test("what was answered of a long message is told within seconds, so that a crash repeats no more", async () => {
  const { channel, smsc, clock } = await openBoundSmppRig({ config: { max_per_second_per_sender: 1 } });
  const sending = sendThrough(channel, outgoingSms({ text: "x".repeat(150 * 20) }));
  for (let ms = 0; ms < 5_000; ms += 1_000) {
    await smsc.request(0x15);
    await clock.advance(1_000);
  }
  const kinds = (await sending).parts.map((part) => part?.kind);
  expect(kinds).toEqual([...Array(5).fill("sent"), ...Array(15).fill("deferred")]);
});

test("the turns of a message are of one length: its last segment does not wait for the whole turn of another", async () => {
  const { channel, smsc, clock } = await openBoundSmppRig({ config: { max_per_second_per_sender: 2 } });
  const sending = sendThrough(channel, outgoingSms({ text: "x".repeat(150 * 12) }));
  for (let ms = 0; ms < 5_000; ms += 500) {
    await smsc.request(0x15);
    await clock.advance(500);
  }
  const kinds = (await sending).parts.map((part) => part?.kind);
  expect(kinds).toEqual([...Array(6).fill("sent"), ...Array(6).fill("deferred")]);
});

test("a channel that follows another of its connector lets each sender wait as if that had just sent a segment", async () => {
  const { channel, smsc, clock } = await openBoundSmppRig({
    config: { max_per_second_per_sender: 2 },
    deps: { isRateUsed: true },
  });
  const sending = [sendThrough(channel), sendThrough(channel)];
  const arrived = async (ms: number) => {
    await clock.advance(ms);
    await smsc.request(0x15);
    return smsc.submits.length;
  };
  expect([await arrived(499), await arrived(1), await arrived(500)]).toEqual([0, 1, 2]);
  await Promise.all(sending);
});

test("a message whose last segment would come too late at its sender's rate is not begun", async () => {
  const { channel, smsc } = await openBoundSmppRig({ config: { max_per_second_per_sender: 1 } });
  const outcome = await sendThrough(channel, outgoingSms({ text: "x".repeat(150 * 5), remainingMs: 4000 }));
  expect(outcome.parts[4]).toMatchObject({ kind: "deferred", error: { code: "smpp.too_late" } });
  expect(smsc.submits).toHaveLength(0);
});

test("what waited for the window goes at its sender's rate too, not all at once with the answers", async () => {
  const { channel, smsc, clock } = await openBoundSmppRig({
    dial: { holdSubmits: true },
    config: { max_per_second_per_sender: 2, window: 3 },
  });
  const sending = Array.from({ length: 3 }, () => sendThrough(channel));
  const arrived = async (ms: number) => {
    await clock.advance(ms);
    await smsc.request(0x15);
    return smsc.submits.length;
  };
  await arrived(1000);
  sending.push(...Array.from({ length: 3 }, () => sendThrough(channel)));
  expect(await arrived(2000)).toBe(3);
  smsc.release();
  expect([await arrived(0), await arrived(500), await arrived(510)]).toEqual([4, 5, 6]);
  await Promise.all(sending);
});

test("once a segment is refused, its sender's rate is free for other messages", async () => {
  const { channel, smsc, clock } = await openBoundSmppRig({
    dial: { submitStatus: 0x0b },
    config: { max_per_second_per_sender: 1 },
  });
  const refused = sendThrough(channel, outgoingSms({ text: "x".repeat(150 * 20) }));
  await smsc.until(() => smsc.submits.length === 1);
  await smsc.request(0x15);
  await clock.advance(1000);
  expect((await refused).parts.map((part) => part?.kind)).toEqual(Array(20).fill("rejected"));
  delete smsc.dial.submitStatus;
  expect(await sendThrough(channel)).toMatchObject({ parts: [{ kind: "sent" }] });
});

test("a one-time password goes between the segments of its sender's campaign, however long its messages are", async () => {
  const { channel, smsc, clock } = await openBoundSmppRig({ config: { max_per_second_per_sender: 1 } });
  const campaign = outgoingSms({ text: "x".repeat(150 * 6), flow: 1 });
  const sending = [sendThrough(channel, campaign), sendThrough(channel, campaign)];
  for (let n = 0; n < 5; n++) {
    await clock.advance(2_000);
    await smsc.request(0x15);
    const otp = sendThrough(channel, outgoingSms({ to: `+1415555${n}`, flow: 2 }));
    await clock.advance(1_000);
    expect(await otp).toMatchObject({ parts: [{ kind: "sent" }] });
  }
  await clock.advance(60_000);
  expect((await sending[0])?.parts.map((part) => part?.kind)).toEqual(Array(6).fill("sent"));
});

test("while the SMSC is away no segment waits for its sender's rate: the message is put off at once", async () => {
  const { channel } = await openSmppRig({ config: { max_per_second_per_sender: 1 } });
  const outcome = await sendThrough(channel, outgoingSms({ text: "x".repeat(1500) }));
  const awaySoFar = { kind: "deferred", error: { code: "smpp.not_connected" } };
  expect(outcome).toMatchObject({
    parts: Array.from({ length: 10 }, () => awaySoFar),
    countsAsAttempt: false,
  });
});

test("a message that loses its session between its segments ends with the next of them", async () => {
  const { channel, smsc, clock, state } = await openBoundSmppRig({
    config: { max_per_second_per_sender: 1 },
  });
  const sending = sendThrough(channel, outgoingSms({ text: "x".repeat(1500) }));
  await smsc.until(() => smsc.submits.length === 1);
  await smsc.request(0x15);
  smsc.dial.hangUp = true;
  smsc.dropAll();
  await state("down");
  await clock.advance(1000);
  const kinds = (await sending).parts.map((part) => part?.kind);
  expect(kinds).toEqual(["sent", ...Array(9).fill("deferred")]);
});

test("a message that rests between its segments ends as soon as it is called off", async () => {
  const { channel, smsc } = await openBoundSmppRig({ config: { max_per_second_per_sender: 1 } });
  const calledOff = new AbortController();
  const sending = channel.send(outgoingSms({ text: LONG_TEXT }), calledOff.signal);
  await smsc.until(() => smsc.submits.length === 1);
  await smsc.request(0x15);
  calledOff.abort();
  expect((await sending).parts.map((part) => part?.kind)).toEqual(["sent", "deferred"]);
});

test("a message that another process may have taken over while it rested between its segments goes no further", async () => {
  const { channel, smsc, clock } = await openBoundSmppRig({ config: { max_per_second_per_sender: 1 } });
  let isOurs = true;
  const never = new AbortController().signal;
  const sending = channel.send(outgoingSms({ text: "x".repeat(450) }), never, () => isOurs);
  await smsc.until(() => smsc.submits.length === 1);
  await smsc.request(0x15);
  isOurs = false;
  await clock.advance(1000);
  const { parts, countsAsAttempt } = await sending;
  const takenOver = { kind: "deferred", error: { code: "smpp.taken_over" }, isOwnPace: true };
  expect(parts).toMatchObject([{ kind: "sent" }, { ...takenOver }, { ...takenOver }]);
  expect([countsAsAttempt, smsc.submits.length]).toEqual([false, 1]);
  // Nothing of it holds up the sender's next message.
  const next = sendThrough(channel);
  await clock.advance(1000);
  expect(await next).toMatchObject({ parts: [{ kind: "sent" }] });
});
