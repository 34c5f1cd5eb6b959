import { expect, test } from "bun:test";
import { createHeldClock } from "../../../test/fakes/held-clock.ts";
import { createThrottle } from "./throttle.ts";

test("without a limit there is always room", () => {
  const throttle = createThrottle(createHeldClock(), undefined);
  throttle.take(1e9);
  expect([throttle.isLimited, throttle.available(), throttle.waitMs()]).toEqual([
    false,
    Number.POSITIVE_INFINITY,
    0,
  ]);
});

test.each([0.5, 1, 10])(
  "no more than %p pass in a second, and no less, however the clock steps",
  async (rate) => {
    const clock = createHeldClock();
    const throttle = createThrottle(clock, rate);
    let passed = 0;
    for (let step = 0; step < 1_000; step++) {
      const count = Math.max(0, throttle.available());
      throttle.take(count);
      passed += count;
      await clock.advance(10);
    }
    expect(passed).toBeGreaterThanOrEqual(10 * rate);
    expect(passed).toBeLessThan(Math.max(1, rate) + 10 * rate);
  },
);

test.each([1, 2, 2.5, 10])(
  "at %p, no second has more, wherever it begins and after any silence",
  async (rate) => {
    const clock = createHeldClock();
    const throttle = createThrottle(clock, rate);
    const times: number[] = [];
    for (const silenceMs of [0, 137, 900, 60_000]) {
      await clock.advance(silenceMs);
      const before = times.length;
      for (let step = 0; step < 1_000; step++) {
        for (; throttle.available() >= 1; throttle.take(1)) times.push(clock.monotonicMs());
        await clock.advance(10);
      }
      expect(times.length - before).toBeGreaterThanOrEqual(9.5 * rate);
    }
    const spans = times.slice(Math.ceil(rate)).map((at, index) => at - times[index]!);
    expect(Math.min(...spans)).toBeGreaterThanOrEqual(1_000);
  },
);

test("what is in the way says for how long, also where tokens have been saved", async () => {
  const clock = createHeldClock();
  const throttle = createThrottle(clock, 10);
  throttle.take(10);
  await clock.advance(500);
  expect(throttle.available()).toBe(0);
  await clock.advance(throttle.waitMs());
  expect(throttle.available()).toBeGreaterThanOrEqual(1);
});

test("a silence saves up no more than a second's worth", async () => {
  const clock = createHeldClock();
  const throttle = createThrottle(clock, 10);
  await clock.advance(60_000);
  throttle.take(10);
  expect(throttle.available()).toBe(0);
});

test("what had been saved up goes with the part of the rate that is lost, and does not come back with it", async () => {
  const clock = createHeldClock();
  let part = 1;
  const throttle = createThrottle(clock, 10, { part: () => part });
  part = 0.5;
  expect(throttle.available()).toBe(5);
  part = 0;
  expect([throttle.available(), throttle.waitMs()]).toEqual([0, Number.POSITIVE_INFINITY]);
  await clock.advance(60_000);
  part = 1;
  expect(throttle.available()).toBe(0);
  await clock.advance(500);
  expect(throttle.available()).toBe(5);
});

test("a long message may go into debt, and those behind it wait for that", async () => {
  const clock = createHeldClock();
  const throttle = createThrottle(clock, 2);
  throttle.take(6);
  expect(throttle.available()).toBeLessThanOrEqual(0);
  expect(throttle.waitMs()).toBe(2_500);
  await clock.advance(1_000);
  expect(throttle.waitMs()).toBe(1_500);
  await clock.advance(1_500);
  expect([throttle.waitMs(), throttle.available()]).toEqual([0, 1]);
});

test("who waits as long as it says need not ask twice, also where that is no whole number", async () => {
  const clock = createHeldClock();
  const throttle = createThrottle(clock, 0.3);
  throttle.take(1);
  await clock.advance(throttle.waitMs());
  expect(throttle.available()).toBe(1);
});

test("whatever becomes of the part, no second has more than the part that it ends with", async () => {
  const clock = createHeldClock();
  let part = 1;
  const throttle = createThrottle(clock, 20, { part: () => part });
  const times: number[] = [];
  const takeFor = async (ms: number) => {
    for (let step = 0; step < ms; step += 10) {
      for (; throttle.available() >= 1; throttle.take(1)) times.push(clock.monotonicMs());
      await clock.advance(10);
    }
  };
  const inSecondTo = (end: number) => times.filter((at) => at > end - 1_000 && at <= end).length;
  for (const [next, most] of [
    [0.5, 10],
    [0.25, 5],
    [1, 20],
    [0.5, 10],
  ] as const) {
    await clock.advance(5_000);
    part = next;
    const before = clock.monotonicMs();
    await takeFor(3_000);
    const counts = times.filter((at) => at >= before).map(inSecondTo);
    expect([next, Math.max(...counts)]).toEqual([next, most]);
  }
});

test("where the part has grown, only what the smaller one had saved up may go at once", async () => {
  const clock = createHeldClock();
  let part = 0.5;
  const throttle = createThrottle(clock, 10, { part: () => part });
  await clock.advance(60_000);
  part = 1;
  expect(throttle.available()).toBe(5);
  await clock.advance(200);
  expect(throttle.available()).toBe(7);
});

test("what has just gone still counts when the part shrinks, and when it grows", async () => {
  const clock = createHeldClock();
  let part = 1;
  const throttle = createThrottle(clock, 10, { part: () => part });
  const availableAfter = async (ms: number) => {
    await clock.advance(ms);
    return throttle.available();
  };
  throttle.take(10);
  part = 0.5;
  expect([await availableAfter(1_009), await availableAfter(1)]).toEqual([0, 5]);
  throttle.take(5);
  part = 1;
  expect(throttle.available()).toBe(0);
  expect([await availableAfter(1_009), await availableAfter(1)]).toEqual([5, 10]);
});

test.each([0, 0.1])(
  "what went before the part fell to %p for a moment still counts when it is back",
  async (low) => {
    const clock = createHeldClock();
    let part = 1;
    const throttle = createThrottle(clock, 20, { part: () => part });
    const availableAfter = async (ms: number) => {
      await clock.advance(ms);
      return throttle.available();
    };
    throttle.take(20);
    part = low;
    await availableAfter(100);
    part = 1;
    expect([await availableAfter(100), await availableAfter(809)]).toEqual([0, 0]);
    expect(await availableAfter(1)).toBeGreaterThanOrEqual(16);
  },
);

test.each([
  ["a faster one", 20, [10, 20]],
  ["a slower one", 5, [0, 5]],
])("what has just gone counts for %s that follows, once the settings are changed", async (_, rate, room) => {
  const clock = createHeldClock();
  const before = createThrottle(clock, 10);
  before.take(10);
  await clock.advance(500);
  const after = createThrottle(clock, rate, { before });
  const now = after.available();
  await clock.advance(510);
  expect([now, after.available()]).toEqual(room);
});

test.each([0.5, 1, 10])(
  "at %p, a rate that may have been used lets nothing pass in its first time, and then no less",
  async (rate) => {
    const clock = createHeldClock();
    const throttle = createThrottle(clock, rate, { isUsed: true });
    const waitMs = throttle.waitMs();
    expect(throttle.available()).toBe(0);
    expect(waitMs).toBeGreaterThanOrEqual(Math.max(1, 1 / rate) * 1_000);
    await clock.advance(waitMs);
    expect(throttle.available()).toBe(Math.max(1, rate));
  },
);
