import { expect, test } from "bun:test";
import { createLargeLimit, type LargeLimit } from "./large-limit.ts";

function waitMs(largeLimit: LargeLimit): number | undefined {
  const place = largeLimit.enter();
  return "waitMs" in place ? place.waitMs : undefined;
}

test("large emails that find no place come back one after the other, in whole milliseconds, after a minute at the most", () => {
  let now = 17.3;
  const largeLimit = createLargeLimit({ monotonicMs: () => now }, 1);
  expect(waitMs(largeLimit)).toBeUndefined();
  expect([waitMs(largeLimit), waitMs(largeLimit)]).toEqual([250, 500]);
  now += 100.6;
  expect(waitMs(largeLimit)).toBe(650);
  expect(Array.from({ length: 1_000 }, () => waitMs(largeLimit)).at(-1)).toBe(60_000);
});

test("a place that is left is taken by the next who comes", () => {
  const largeLimit = createLargeLimit({ monotonicMs: () => 0 }, 2);
  const first = largeLimit.enter();
  expect(waitMs(largeLimit)).toBeUndefined();
  expect(waitMs(largeLimit)).toBe(250);
  if ("leave" in first) first.leave();
  expect(waitMs(largeLimit)).toBeUndefined();
});
