import { expect, test } from "bun:test";
import { createHeldClock } from "../../../test/fakes/held-clock.ts";
import { deferred, email, sent, sms, unconfirmed } from "../../../test/progress-samples.ts";
import type { ChannelStatus } from "../../channels/channel.ts";
import type { PartOutcome } from "../../core/messages/outcome.ts";
import { createHealth, type HealthTraits } from "./health.ts";

const UP: ChannelStatus = { state: "up", since: 0 };

function open(traits: Partial<HealthTraits> = {}) {
  const clock = createHeldClock();
  const health = createHealth(clock, { keepsRate: false, reachesMany: false, ...traits });
  let messages = 0;
  return {
    clock,
    score: () => health.score(UP).score,
    attempts(count: number, part: PartOutcome, { countsAsAttempt = true, progress = sms() } = {}) {
      for (let index = 0; index < count; index++)
        health.attempt({ messageId: `m-${messages++}`, progress }, { parts: [part], countsAsAttempt });
    },
    receipt: (providerMessageId: string, messageId?: string) =>
      health.receipt({ providerMessageId, ...(messageId !== undefined && { messageId }) }),
  };
}

test("seven bad attempts in a row bring it below a half, and what it lacks halves in ten minutes", async () => {
  const { clock, score, attempts } = open();
  attempts(6, deferred);
  expect(score()).toBeGreaterThan(0.5);
  attempts(1, deferred);
  const lacking = 1 - score();
  expect(lacking).toBeGreaterThan(0.5);
  await clock.advance(600_000);
  expect(1 - score()).toBeCloseTo(lacking / 2);
  // Also where nobody looked meanwhile.
  await clock.advance(600_000);
  attempts(1, sent("x"));
  expect(1 - score()).toBeCloseTo((lacking / 4) * 0.9);
});

test("what a channel that keeps its rate puts off without an attempt says nothing against it", () => {
  for (const [keepsRate, isHarmless] of [
    [true, true],
    [false, false],
  ] as const) {
    const { score, attempts } = open({ keepsRate });
    attempts(10, deferred, { countsAsAttempt: false });
    expect(score() === 1).toBe(isHarmless);
    attempts(10, deferred);
    expect(score()).toBeLessThan(0.5);
  }
});

test("what one of many hosts puts off, or does not answer, says nothing against a channel that reaches them all", () => {
  for (const [reachesMany, isHarmless] of [
    [true, true],
    [false, false],
  ] as const)
    for (const part of [deferred, unconfirmed]) {
      const { score, attempts } = open({ reachesMany });
      attempts(10, part);
      expect(score() === 1).toBe(isHarmless);
    }
});

test("receipts count once the connector has given one, and only for SMS whose receipt is still to come", async () => {
  const slow = async (part: PartOutcome, progress = sms()) => {
    const { clock, score, attempts, receipt } = open();
    receipt("another", "another");
    attempts(20, part, { progress });
    await clock.advance(61_000);
    return score() < 0.5;
  };
  expect(await slow(sent("x"))).toBe(true);
  expect(await slow({ kind: "sent", providerMessageIds: ["x"], delivered: true })).toBe(false);
  expect(await slow(sent("x"), email("ann@example.net"))).toBe(false);
  const { clock, score, attempts } = open();
  attempts(20, sent("x"));
  await clock.advance(61_000);
  expect(score()).toBe(1);
});

test("a receipt in time counts, by its message or its provider's id, also where it came before the answer", async () => {
  const inTime = async (come: (rig: ReturnType<typeof open>, index: number) => void) => {
    const rig = open();
    rig.receipt("another", "another");
    for (let index = 0; index < 20; index++) come(rig, index);
    await rig.clock.advance(61_000);
    return rig.score() === 1;
  };
  expect(
    await inTime(({ attempts, receipt }, index) => {
      attempts(1, sent(`id-${index}`));
      receipt("?", `m-${index}`);
    }),
  ).toBe(true);
  expect(
    await inTime(({ attempts, receipt }, index) => {
      attempts(1, sent(`id-${index}`));
      receipt(`id-${index}`);
    }),
  ).toBe(true);
  expect(
    await inTime(({ attempts, receipt }, index) => {
      receipt(`id-${index}`);
      attempts(1, sent(`id-${index}`));
    }),
  ).toBe(true);
});

test("a flood of receipts for unknown messages, or of messages without receipts, is not kept", async () => {
  const { clock, score, attempts, receipt } = open();
  receipt("first");
  for (let index = 0; index < 1_000; index++) receipt(`early-${index}`);
  // The first is forgotten by now: its message is watched, as any other.
  attempts(1, sent("first"));
  await clock.advance(61_000);
  expect(score()).toBeCloseTo(0.9);

  const full = open();
  full.receipt("another", "another");
  for (let index = 0; index < 1_000; index++) full.attempts(1, sent(`id-${index}`));
  full.attempts(1, sent("beyond"));
  for (let index = 0; index < 1_000; index++) full.receipt(`id-${index}`);
  await full.clock.advance(61_000);
  expect(full.score()).toBe(1);
});
