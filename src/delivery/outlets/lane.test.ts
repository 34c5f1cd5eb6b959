import { expect, test } from "bun:test";
import { createLane, type Lane } from "./lane.ts";

function waitMs(lane: Lane): number | undefined {
  const place = lane.enter();
  return "waitMs" in place ? place.waitMs : undefined;
}

test("those who find no place come back one after the other, in whole milliseconds, after a minute at the most", () => {
  let now = 17.3;
  const lane = createLane({ monotonicMs: () => now }, 1);
  expect(waitMs(lane)).toBeUndefined();
  expect([waitMs(lane), waitMs(lane)]).toEqual([250, 500]);
  now += 100.6;
  expect(waitMs(lane)).toBe(650);
  expect(Array.from({ length: 1_000 }, () => waitMs(lane)).at(-1)).toBe(60_000);
});

test("a place that is left is taken by the next who comes", () => {
  const lane = createLane({ monotonicMs: () => 0 }, 2);
  const first = lane.enter();
  expect(waitMs(lane)).toBeUndefined();
  expect(waitMs(lane)).toBe(250);
  if ("leave" in first) first.leave();
  expect(waitMs(lane)).toBeUndefined();
});
