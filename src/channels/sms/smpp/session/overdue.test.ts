import { afterEach, expect, test } from "bun:test";
import { closeSmppRigs, openBoundSmppRig, sendThrough } from "../../../../../test/fakes/smpp-rig.ts";
import { COMMAND } from "../wire/pdu.ts";

afterEach(closeSmppRigs);

type Rig = Awaited<ReturnType<typeof openBoundSmppRig>>;

/** Lets time pass in which the SMSC shows that it lives, and gets whatever it may. */
async function keepSending({ smsc, channel, clock }: Rig, forMs: number) {
  for (let past = 0; past < forMs; past += 500) {
    while (channel.freeSlots() > 0) void sendThrough(channel);
    await smsc.request(COMMAND.enquireLink);
    await clock.advance(500);
  }
}

test.each([
  { response_timeout_ms: 5_000, leftAfterMs: 60_000, submits: 21 },
  { response_timeout_ms: 60_000, leftAfterMs: 120_000, submits: 11 },
])(
  "an SMSC that lives and answers no submit_sm is left and bound to again after a while (%j)",
  async (times) => {
    const { leftAfterMs, submits, ...config } = times;
    const rig = await openBoundSmppRig({ dial: { holdSubmits: true }, config });
    const { smsc, statuses, channel } = rig;
    await keepSending(rig, leftAfterMs - 500);
    await smsc.request(COMMAND.enquireLink);
    expect(channel.status().state).toBe("up");
    await rig.clock.advance(500);
    await rig.state("down");
    const reason = `the SMSC has answered no submit_sm for ${leftAfterMs / 1_000} s`;
    expect(statuses.at(-1)?.reason).toBe(reason);
    expect(smsc.submits).toHaveLength(submits);
    smsc.dial.holdSubmits = false;
    await rig.clock.advance(1_000);
    await rig.state("up");
    expect(await sendThrough(channel)).toMatchObject({ parts: [{ kind: "sent" }] });
  },
);

test("an answer that is lost keeps back no other messages", async () => {
  const rig = await openBoundSmppRig({ dial: { holdSubmits: true }, config: { response_timeout_ms: 5_000 } });
  const { smsc, channel, clock } = rig;
  const lost = sendThrough(channel);
  await smsc.until(() => smsc.submits.length === 1);
  smsc.dial.holdSubmits = false;
  await clock.advance(1_000);
  await sendThrough(channel);
  await clock.advance(4_000);
  expect(await lost).toMatchObject({ parts: [{ kind: "unconfirmed" }] });
  expect(channel.freeSlots()).toBe(10);
});

test("of an SMSC that has answered one message late, an answer that is lost keeps back no other messages either", async () => {
  const rig = await openBoundSmppRig({ config: { response_timeout_ms: 5_000 } });
  const { smsc, channel, clock, lateAnswers } = rig;
  const hand = async (isHeld: boolean) => {
    const before = smsc.submits.length;
    smsc.dial.holdSubmits = isHeld;
    const sending = sendThrough(channel);
    await smsc.until(() => smsc.submits.length > before);
    if (!isHeld) await sending;
  };
  await hand(true);
  await clock.advance(1_000);
  await hand(false);
  await clock.advance(5_000);
  smsc.answerNext();
  await rig.until(() => lateAnswers.length === 1);
  await hand(true);
  for (let second = 0; second < 20; second++) {
    await clock.advance(1_000);
    expect(channel.freeSlots()).toBeGreaterThan(0);
    await hand(false);
  }
});

test("a process that stood still keeps its session, and what was answered meanwhile is known", async () => {
  const rig = await openBoundSmppRig({ dial: { holdSubmits: true }, config: { response_timeout_ms: 5_000 } });
  const { smsc, channel, clock, lateAnswers } = rig;
  for (let count = 0; count < 10; count++) void sendThrough(channel);
  await smsc.until(() => smsc.submits.length === 10);
  const stoodStillMs = 70_000;
  await clock.advance(stoodStillMs, { grainMs: stoodStillMs });
  smsc.release();
  await rig.until(() => lateAnswers.length === 10);
  expect(channel.status().state).toBe("up");
});

test("an SMSC that refuses some messages at once gets no more than its window of those that it takes later", async () => {
  const config = { response_timeout_ms: 5_000, window: 20 };
  const { smsc, channel, clock } = await openBoundSmppRig({ dial: { holdSubmits: true }, config });
  let answered = 0;
  const sendOne = async (isRefused: boolean) => {
    const before = smsc.submits.length;
    smsc.dial.holdSubmits = !isRefused;
    smsc.dial.submitStatus = isRefused ? 0x0b : 0;
    const sending = sendThrough(channel);
    await smsc.until(() => smsc.submits.length > before);
    if (!isRefused) return;
    answered++;
    await sending;
  };
  for (let past = 0; past < 30_000; past += 500) {
    while (channel.freeSlots() > 0) await sendOne(smsc.submits.length % 10 === 9);
    expect(smsc.submits.length - answered).toBeLessThanOrEqual(20);
    if (smsc.answerNext()) answered++;
    await smsc.request(COMMAND.enquireLink);
    await clock.advance(500);
  }
  expect(answered).toBeGreaterThan(50);
});

test("a message that gets no answer, alone and again, keeps back no others from the rest of the window", async () => {
  const rig = await openBoundSmppRig({ dial: { holdSubmits: true }, config: { response_timeout_ms: 5_000 } });
  const { smsc, channel, clock } = rig;
  void sendThrough(channel);
  await smsc.until(() => smsc.submits.length === 1);
  await clock.advance(5_000);
  await smsc.request(COMMAND.enquireLink);
  void sendThrough(channel);
  await smsc.until(() => smsc.submits.length === 2);
  smsc.dial.holdSubmits = false;
  expect(await sendThrough(channel)).toMatchObject({ parts: [{ kind: "sent" }] });
  expect(channel.freeSlots()).toBe(9);
});

test("where an SMSC that answered late says no more, who waits is told as soon as it may be tried again", async () => {
  const rig = await openBoundSmppRig({ dial: { holdSubmits: true }, config: { response_timeout_ms: 5_000 } });
  const { smsc, channel, clock } = rig;
  for (let count = 0; count < 2; count++) void sendThrough(channel);
  await smsc.until(() => smsc.submits.length === 2);
  await clock.advance(6_000);
  smsc.answerNext();
  await smsc.request(COMMAND.enquireLink);
  await clock.advance(4_999);
  expect(channel.freeSlots()).toBe(0);
  const told = rig.until(() => channel.freeSlots() === 9);
  await clock.advance(1);
  await told;
});

test("a late answer that is stored once the session has ended leaves nothing behind", async () => {
  const stored = Promise.withResolvers<void>();
  const deps = { onLateAnswer: () => stored.promise };
  const config = { response_timeout_ms: 5_000 };
  const { smsc, channel, clock } = await openBoundSmppRig({ dial: { holdSubmits: true }, config, deps });
  for (let count = 0; count < 2; count++) void sendThrough(channel);
  await smsc.until(() => smsc.submits.length === 2);
  await clock.advance(5_000);
  smsc.answerNext();
  await smsc.request(COMMAND.enquireLink);
  await channel.stop();
  stored.resolve();
  await clock.advance(0);
  expect(clock.pending()).toBe(0);
});
