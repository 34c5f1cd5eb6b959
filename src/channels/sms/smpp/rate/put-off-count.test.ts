import { expect, test } from "bun:test";
import { createHeldClock } from "../../../../../test/fakes/held-clock.ts";
import { createPutOffCount, LONGEST_COUNTED_MS } from "./put-off-count.ts";

const MINUTE_MS = 60_000;

test("segments count until they come back", async () => {
  const clock = createHeldClock();
  const count = createPutOffCount(clock);
  await clock.advance(7_000);
  count.add(3, 30_000);
  count.add(1, 2 * MINUTE_MS);
  count.add(2, 30_000);
  expect(count.now()).toBe(6);
  await clock.advance(29_000);
  expect(count.now()).toBe(6);
  await clock.advance(11_000);
  expect(count.now()).toBe(1);
  await clock.advance(2 * MINUTE_MS);
  expect(count.now()).toBe(0);
});

test("after a long time in which nothing was counted, the times are those of now", async () => {
  const clock = createHeldClock();
  const count = createPutOffCount(clock);
  count.add(1, 30_000);
  await clock.advance(300 * MINUTE_MS);
  count.add(5, 30_000);
  expect(count.now()).toBe(5);
  await clock.advance(20_000);
  expect(count.now()).toBe(5);
  await clock.advance(20_000);
  expect(count.now()).toBe(0);
});

test("a time beyond the longest counts as the longest, and takes nobody else's place", async () => {
  const clock = createHeldClock();
  const count = createPutOffCount(clock);
  count.add(1, 30_000);
  count.add(4, 10 * LONGEST_COUNTED_MS);
  await clock.advance(MINUTE_MS);
  expect(count.now()).toBe(4);
  await clock.advance(LONGEST_COUNTED_MS - 2 * MINUTE_MS);
  expect(count.now()).toBe(4);
  await clock.advance(2 * MINUTE_MS);
  expect(count.now()).toBe(0);
});
