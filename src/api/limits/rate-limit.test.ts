import { expect, test } from "bun:test";
import { createHeldClock } from "../../../test/fakes/held-clock.ts";
import { createRateLimiter } from "./rate-limit.ts";

const limit = { rate: 2, burst: 3 };

test("a burst is let through, then as many as the rate allows", async () => {
  const clock = createHeldClock();
  const limiter = createRateLimiter(clock);
  const takes = () => [1, 2, 3, 4].map(() => limiter.take({ key: "a", limit }));
  expect(takes()).toEqual([undefined, undefined, undefined, 1]);
  await clock.advance(1000);
  expect(takes()).toEqual([undefined, undefined, 1, 1]);
  await clock.advance(60_000);
  expect(takes()).toEqual([undefined, undefined, undefined, 1]);
});

test("the seconds to wait are those until a request is let through", async () => {
  const clock = createHeldClock();
  const limiter = createRateLimiter(clock);
  const slow = { rate: 0.1, burst: 1 };
  expect(limiter.take({ key: "a", limit: slow })).toBeUndefined();
  const wait = limiter.take({ key: "a", limit: slow })!;
  await clock.advance(wait * 1000 - 1);
  expect(limiter.take({ key: "a", limit: slow })).toBe(1);
  await clock.advance(1);
  expect(limiter.take({ key: "a", limit: slow })).toBeUndefined();
});

test("keys do not share a bucket, and only so many are remembered", () => {
  const limiter = createRateLimiter(createHeldClock(), 2);
  const one = { rate: 1, burst: 1 };
  expect(limiter.take({ key: "a", limit: one })).toBeUndefined();
  expect(limiter.take({ key: "b", limit: one })).toBeUndefined();
  expect(limiter.take({ key: "a", limit: one })).toBe(1);
  expect(limiter.take({ key: "c", limit: one })).toBeUndefined();
  expect(limiter.take({ key: "b", limit: one })).toBeUndefined();
});

test("of two buckets a request takes from both or from none, and is told the longer wait", async () => {
  const clock = createHeldClock();
  const limiter = createRateLimiter(clock);
  const ofAccount = { key: "account", limit: { rate: 0.1, burst: 2 } };
  const ofKey = { key: "a", limit: { rate: 1, burst: 3 } };
  const takeBoth = () => limiter.take(ofKey, ofAccount);
  expect([1, 2, 3].map(takeBoth)).toEqual([undefined, undefined, 10]);
  expect([1, 2].map(() => limiter.take(ofKey))).toEqual([undefined, 1]);
  expect(takeBoth()).toBe(10);
  await clock.advance(10_000);
  expect([1, 2, 3].map(() => limiter.take(ofKey))).toEqual([undefined, undefined, undefined]);
  expect(takeBoth()).toBe(1);
  expect(limiter.take(ofAccount)).toBeUndefined();
});
