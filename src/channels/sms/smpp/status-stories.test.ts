/** What each answer to a submit_sm comes to: for the message, its attempts, and the session it came on. */
import { afterEach, expect, test } from "bun:test";
import {
  closeSmppRigs,
  openBoundSmppRig,
  outgoingSms,
  sendThrough,
} from "../../../../test/fakes/smpp-rig.ts";

afterEach(closeSmppRigs);

type Case = readonly [what: string, statuses: readonly number[], expected: Expected];
interface Expected {
  readonly kind: "deferred" | "rejected";
  readonly counts: boolean;
  readonly isReplaced: boolean;
  readonly isSlowed: boolean;
}

/** protocols: SMPP 3.4 §5.1.3, and 0x100 to 0x104 of version 5, which older peers answer too. */
const CASES: readonly Case[] = [
  ["throttled", [0x58], { kind: "deferred", counts: false, isReplaced: false, isSlowed: true }],
  ["full", [0x14], { kind: "deferred", counts: false, isReplaced: false, isSlowed: false }],
  [
    "transient",
    [0x08, 0x45, 0x64, 0xff, 0x102],
    { kind: "deferred", counts: true, isReplaced: false, isSlowed: false },
  ],
  [
    "a fault of the session",
    [0x04, 0x05, 0x0d, 0x0e, 0x0f, 0x53],
    { kind: "deferred", counts: false, isReplaced: true, isSlowed: false },
  ],
  [
    "a fault of the framing",
    [0x02, 0x03],
    { kind: "deferred", counts: true, isReplaced: true, isSlowed: false },
  ],
  [
    "permanent",
    [
      0x01, 0x06, 0x07, 0x0a, 0x0b, 0x15, 0x33, 0x34, 0x40, 0x42, 0x43, 0x44, 0x48, 0x49, 0x50, 0x51, 0x54,
      0x55, 0x61, 0x62, 0x63, 0x65, 0x66, 0xc0, 0xc1, 0xc2, 0xc3, 0xc4, 0xfe, 0x100, 0x101, 0x103, 0x104,
      0x400, 0x4ff,
    ],
    { kind: "rejected", counts: true, isReplaced: false, isSlowed: false },
  ],
];

const cases = CASES.flatMap(([what, statuses, expected]) =>
  statuses.map((status) => [`0x${status.toString(16).padStart(8, "0")}`, what, status, expected] as const),
);

test.each(cases)("%s is %s", async (hex, _, submitStatus, { kind, counts, isReplaced, isSlowed }) => {
  const { channel, smsc, clock, state } = await openBoundSmppRig({
    dial: { submitStatus },
    config: { max_per_second: 1000 },
  });
  await clock.advance(60_000);
  const outcome = await sendThrough(channel);
  expect(outcome).toMatchObject({
    parts: [{ kind, error: { code: `smpp.${hex}` } }],
    countsAsAttempt: counts,
  });
  expect(channel.status().rate!.isReduced).toBe(isSlowed);
  if (isReplaced) {
    await state("down");
    await clock.advance(1000);
    await state("up");
  }
  expect(smsc.binds).toHaveLength(isReplaced ? 2 : 1);
  delete smsc.dial.submitStatus;
  const next = sendThrough(channel);
  await clock.advance(1000);
  expect(await next).toMatchObject({ parts: [{ kind: "sent" }] });
});

test.each([0x03, 0x04, 0x0b, 0x400])(
  "a generic_nack of status %p puts the message off, rejects it never, and replaces the session",
  async (nack) => {
    const { channel, clock, state } = await openBoundSmppRig({ dial: { nack } });
    await clock.advance(60_000);
    expect(await sendThrough(channel)).toMatchObject({
      parts: [{ kind: "deferred" }],
      countsAsAttempt: true,
    });
    await state("down");
  },
);

test("messages that an SMSC cannot read leave the others their session, which is replaced once a minute at most", async () => {
  const { channel, smsc, clock } = await openBoundSmppRig();
  const isUnreadable = ({ destination }: { destination: { address: string } }) =>
    destination.address === "919876543219" ? 0x03 : undefined;
  smsc.dial.submitStatus = isUnreadable;
  await clock.advance(59_999);
  for (let n = 0; n < 3; n++) {
    const unreadable = await sendThrough(channel, outgoingSms({ to: "+919876543219" }));
    expect(unreadable).toMatchObject({ parts: [{ kind: "deferred" }], countsAsAttempt: true });
    expect(await sendThrough(channel)).toMatchObject({ parts: [{ kind: "sent" }] });
  }
  expect(smsc.binds).toHaveLength(1);
});

test.each([
  [0x58, false],
  [0x14, false],
  [0x08, true],
] as const)(
  "a generic_nack that says to try again later (%p) is no fault of the session, counting as an attempt: %p",
  async (nack, countsAsAttempt) => {
    const { channel, smsc } = await openBoundSmppRig({ dial: { nack } });
    expect(await sendThrough(channel)).toMatchObject({ parts: [{ kind: "deferred" }], countsAsAttempt });
    expect(channel.status().state).toBe("up");
    expect(smsc.binds).toHaveLength(1);
  },
);
