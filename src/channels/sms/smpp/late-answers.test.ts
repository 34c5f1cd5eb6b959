import { afterEach, expect, test } from "bun:test";
import {
  closeSmppRigs,
  LONG_TEXT,
  openBoundSmppRig,
  outgoingSms,
  sendThrough,
} from "../../../../test/fakes/smpp-rig.ts";

afterEach(closeSmppRigs);

test("an answer that comes after its limit still tells which id the segment has", async () => {
  const { channel, smsc, clock, lateAnswers, until } = await openBoundSmppRig({
    dial: { holdSubmits: true },
  });
  const message = outgoingSms({ text: LONG_TEXT });
  const sending = sendThrough(channel, message);
  await smsc.until(() => smsc.submits.length === 2);
  // The SMSC shows that it lives, so that the session stays.
  for (let i = 0; i < 3; i++) {
    await clock.advance(20_000);
    await smsc.request(0x15);
  }
  expect((await sending).parts.map((part) => part?.kind)).toEqual(["unconfirmed", "unconfirmed"]);
  expect(lateAnswers).toEqual([]);
  smsc.release();
  await until(() => lateAnswers.length === 2);
  const { messageId } = message;
  const detail = { encoding: "gsm7", segments: 2 };
  const every = { connectorId: "c1", messageId, parts: 2, detail, joinedBy: "udh8 gsm7 0 5/0 PSTRDR" };
  expect(lateAnswers).toEqual([
    { ...every, part: 0, providerMessageIds: [smsc.submits[0]!.messageId] },
    { ...every, part: 1, providerMessageIds: [smsc.submits[1]!.messageId] },
  ]);
});

test("an answer that comes after the attempt was cut off still tells which id the segment has", async () => {
  const { channel, smsc, lateAnswers, until } = await openBoundSmppRig({ dial: { holdSubmits: true } });
  const controller = new AbortController();
  const message = outgoingSms();
  const sending = channel.send(message, controller.signal);
  await smsc.until(() => smsc.submits.length === 1);
  controller.abort();
  await sending;
  smsc.release();
  await until(() => lateAnswers.length === 1);
  expect(lateAnswers[0]).toMatchObject({ messageId: message.messageId, part: 0 });
});

/** An SMSC that holds its answers back until the attempt has given up on them. */
async function openPatient(submitStatus: number) {
  const rig = await openBoundSmppRig({ dial: { holdSubmits: true, submitStatus } });
  const giveUp = async () => {
    for (let i = 0; i < 3; i++) {
      await rig.clock.advance(20_000);
      await rig.smsc.request(0x15);
    }
  };
  return { ...rig, giveUp };
}

test.each([
  [0x0b, { kind: "rejected", error: { code: "smpp.0x0000000b" } }],
  [0x64, { kind: "deferred", error: { code: "smpp.0x00000064" } }],
] as const)("a late refusal (%p) tells which attempt at the segment it is about", async (status, outcome) => {
  const { channel, smsc, lateAnswers, until, giveUp } = await openPatient(status);
  const message = outgoingSms({ claim: 3 });
  const sending = sendThrough(channel, message);
  await smsc.until(() => smsc.submits.length === 1);
  await giveUp();
  expect(await sending).toMatchObject({ parts: [{ kind: "unconfirmed" }] });
  smsc.release();
  await until(() => lateAnswers.length === 1);
  const { messageId } = message;
  expect(lateAnswers).toMatchObject([{ connectorId: "c1", messageId, part: 0, claim: 3, outcome }]);
});

test("an answer in time is no late answer", async () => {
  const { channel, smsc, lateAnswers } = await openPatient(0x0b);
  smsc.dial.holdSubmits = false;
  for (const submitStatus of [0, 0x0b]) {
    smsc.dial.submitStatus = submitStatus;
    await sendThrough(channel);
  }
  await smsc.request(0x15);
  expect(lateAnswers).toEqual([]);
});
