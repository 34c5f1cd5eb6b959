/** A queue for one destination: who finds no place comes back when it is its turn. */
import { expect, test } from "bun:test";
import { createHeldClock } from "../../../../test/fakes/held-clock.ts";
import { nextAttemptAt, RETRY_POLICIES } from "../../../core/queue/retry-policy.ts";
import { createDestinationLimits, type DestinationLimits } from "./destination-limits.ts";
import type { Limits } from "./mx-config.ts";

const NEVER = new AbortController().signal;
const HOUR_MS = 3_600_000;

/** How often jobs whose time has come are claimed. */
const CLAIM_EVERY_MS = 100;

interface Queue {
  readonly mails: number;
  readonly limits: Limits;
  /** How long each is inside after its start. */
  readonly takesMs?: number;
  readonly remainingMs?: number;
  readonly processes?: number;
  /** How many the destination takes at a time, if that is less than the limits allow. */
  readonly most?: number;
}

/** Sends a queue for one domain, which is put off as the delivery engine does, by up to a tenth longer than it was told. */
async function openQueue(queue: Queue) {
  const { mails, limits, takesMs = 50, remainingMs = HOUR_MS, processes = 1, most } = queue;
  const clock = createHeldClock();
  await clock.advance(HOUR_MS);
  const startedAt = clock.monotonicMs();
  const mostAt = most === undefined ? undefined : () => most;
  const open = (): DestinationLimits => createDestinationLimits(clock, limits, mostAt);
  const doors = Array.from({ length: processes }, open);
  const due: number[] = Array(mails).fill(startedAt);
  const starts: number[] = [];
  let claims = 0;
  let mostHeld = 0;
  let held = 0;
  const attempt = async () => {
    const door = doors[claims++ % processes]!;
    held++;
    const entry = await door.enter(["example.net"], NEVER);
    if (entry.kind === "full") {
      held--;
      const deferral = { attempt: 0, counted: false, now: clock.monotonicMs(), expiresAt: Number.MAX_VALUE };
      const jitter = (claims * 0.618) % 1;
      const retryAfterMs = entry.book(remainingMs);
      return void due.push(nextAttemptAt(RETRY_POLICIES.email, { ...deferral, jitter, retryAfterMs })!);
    }
    starts.push(clock.monotonicMs() - startedAt);
    clock.after(takesMs, () => {
      held--;
      entry.leave();
    });
  };
  const pass = async (ms: number) => {
    const untilMs = clock.monotonicMs() + ms;
    while (clock.monotonicMs() < untilMs) {
      const isDue = (at: number) => at <= clock.monotonicMs();
      const ready = due.filter(isDue);
      due.splice(0, due.length, ...due.filter((at) => !isDue(at)));
      for (const _ of ready) void attempt();
      // Who finds a place starts before time passes.
      await clock.advance(0);
      await clock.advance(CLAIM_EVERY_MS);
      mostHeld = Math.max(mostHeld, held);
    }
  };
  return { clock, doors, starts, pass, claims: () => claims, mostHeld: () => mostHeld };
}

const used = (starts: readonly number[], perSecond: number) =>
  starts.length / perSecond / (Math.max(...starts) / 1_000);

test.each([
  [100, { atATime: 5, perSecond: 5 }, 50],
  [2_000, { atATime: 5, perSecond: 20 }, 50],
  [30, { atATime: 5, perSecond: 0.5 }, 50],
  [1_000, { atATime: 20, perSecond: 100 }, 50],
] as const)(
  "a queue of %p mails for one domain uses nine tenths of its rate, and no more: %p",
  async (mails, limits, takesMs) => {
    const queue = await openQueue({ mails, limits, takesMs });
    await queue.pass(130_000);
    const { starts } = queue;
    expect(starts).toHaveLength(mails);
    expect(used(starts, limits.perSecond)).toBeGreaterThan(0.9);
    const size = Math.ceil(limits.perSecond);
    const spans = starts.slice(size).map((at, n) => at - starts[n]!);
    // What starts is seen at the next claim.
    expect(Math.min(...spans)).toBeGreaterThanOrEqual((size / limits.perSecond) * 1_000 - CLAIM_EVERY_MS);
    expect(queue.claims()).toBeLessThan(mails * 3);
    expect(queue.mostHeld()).toBeLessThanOrEqual(limits.atATime * 3);
  },
);

test.each([
  [200, 1_000],
  [2_000, 200],
  [2_000, 60],
] as const)(
  "where only so many may be sent at a time, a queue of %p mails uses nine tenths of that, too",
  async (mails, takesMs) => {
    const queue = await openQueue({ mails, limits: { atATime: 5 }, takesMs });
    await queue.pass(130_000);
    expect(queue.starts).toHaveLength(mails);
    expect(used(queue.starts, 5_000 / takesMs)).toBeGreaterThan(0.9);
    expect(queue.claims()).toBeLessThan(mails * 4);
  },
);

test.each([
  [200, { atATime: 5 }, 1_000, 2],
  [1_000, { atATime: 5 }, 50, 40],
  [400, { atATime: 5, perSecond: 5 }, 50, 5],
] as const)(
  "where the destination takes two at a time, a queue of %p mails uses nine tenths of that and of its rate: %p",
  async (mails, limits, takesMs, perSecond) => {
    const queue = await openQueue({ mails, limits, takesMs, most: 2 });
    await queue.pass(130_000);
    expect(queue.starts).toHaveLength(mails);
    expect(used(queue.starts, perSecond)).toBeGreaterThan(0.9);
    expect(used(queue.starts, perSecond)).toBeLessThan(1.01);
    expect(queue.claims()).toBeLessThan(mails * 4);
  },
);

test("what two processes put off goes at the rates of both, though it may come back to the other one", async () => {
  const queue = await openQueue({ mails: 400, limits: { atATime: 5, perSecond: 5 }, processes: 2 });
  await queue.pass(60_000);
  expect(queue.starts).toHaveLength(400);
  expect(used(queue.starts, 10)).toBeGreaterThan(0.9);
});

test("after a restart, which knows of no turns, what was put off goes at the rate all the same", async () => {
  const limits = { atATime: 5, perSecond: 5 };
  const queue = await openQueue({ mails: 400, limits });
  await queue.pass(20_000);
  queue.doors[0] = createDestinationLimits(queue.clock, limits);
  await queue.pass(80_000);
  expect(queue.starts).toHaveLength(400);
  expect(used(queue.starts, 5)).toBeGreaterThan(0.9);
});

test.each([20, undefined])(
  "mails for a host that is silent ask no more than once in a quarter of a minute, at a rate of %p",
  async (perSecond) => {
    const limits = { atATime: 5, ...(perSecond !== undefined && { perSecond }) };
    const queue = await openQueue({ mails: 300, limits, takesMs: 180_000 });
    await queue.pass(120_000);
    expect(queue.claims()).toBeLessThan(300 * (120 / 15));
  },
);

test("who expires before its turn takes none away from others", async () => {
  const clock = createHeldClock();
  const limits = createDestinationLimits(clock, { atATime: 1, perSecond: 1 });
  for (let n = 0; n < 3; n++) void limits.enter(["a"], NEVER);
  const full = await limits.enter(["a"], NEVER);
  if (full.kind !== "full") throw new Error("there was a place");
  const first = full.book(1_000);
  expect(full.book(60_000)).toBe(first);
  expect(full.book(60_000)).toBeGreaterThan(first);
});

test("beyond a minute no turn is booked: who asks then asks again after half of that", async () => {
  const clock = createHeldClock();
  const limits = createDestinationLimits(clock, { atATime: 1, perSecond: 1 });
  for (let n = 0; n < 3; n++) void limits.enter(["a"], NEVER);
  const full = await limits.enter(["a"], NEVER);
  if (full.kind !== "full") throw new Error("there was a place");
  const waits = Array.from({ length: 100 }, () => full.book(HOUR_MS));
  expect(Math.max(...waits)).toBeLessThan(60_000);
  expect(waits.slice(60)).toEqual(Array(40).fill(30_000));
});
