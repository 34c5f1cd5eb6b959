import { expect, test } from "bun:test";
import { createHeldClock } from "../../../test/fakes/held-clock.ts";
import { createThrottle } from "./throttle.ts";

test("without a limit there is always room", () => {
  const throttle = createThrottle(createHeldClock(), undefined);
  throttle.take(1e9);
  expect(throttle.available()).toBe(Number.POSITIVE_INFINITY);
});

test("no more than the rate passes in a second, however the clock steps", async () => {
  const clock = createHeldClock();
  const throttle = createThrottle(clock, 10);
  let passed = 0;
  for (let step = 0; step < 1_000; step++) {
    const count = Math.max(0, throttle.available());
    throttle.take(count);
    passed += count;
    await clock.advance(10);
  }
  expect(passed).toBeGreaterThanOrEqual(100);
  expect(passed).toBeLessThanOrEqual(110);
});

test("a long message may go into debt, and those behind it wait for that", async () => {
  const clock = createHeldClock();
  const throttle = createThrottle(clock, 2);
  throttle.take(6);
  expect(throttle.available()).toBeLessThanOrEqual(0);
  expect(throttle.waitMs()).toBe(2_500);
  await clock.advance(2_500);
  expect(throttle.available()).toBe(1);
});
