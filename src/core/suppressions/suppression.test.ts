import { expect, test } from "bun:test";
import { countSoftBounce, isSoftLimit, type SoftBounces } from "./suppression.ts";

const DAY = 86_400_000;

/** What is counted after soft bounces on these days. */
function countOf(...days: readonly number[]): SoftBounces | undefined {
  let count: SoftBounces | undefined;
  for (const day of days) count = countSoftBounce(count, day * DAY);
  return count;
}

test("soft bounces count on different days, and begin anew after more than 30 without one", () => {
  expect(countOf(1, 1, 2)).toEqual({ days: 2, lastDay: 2 });
  expect(countOf(1, 31, 61)).toEqual({ days: 3, lastDay: 61 });
  expect(countOf(1, 2, 33)).toEqual({ days: 1, lastDay: 33 });
});

test("an address is suppressed on the day that the setting names; with 0 never", () => {
  const reached = (days: number, setting: string) =>
    isSoftLimit({ days, lastDay: 1 }, { suppress_after_soft_bounce_days: setting });
  expect([reached(1, "2"), reached(2, "2")]).toEqual([false, true]);
  expect([reached(1, "0"), reached(30, "0")]).toEqual([false, false]);
});
