import { expect, test } from "bun:test";
import { createHeldClock } from "../../test/fakes/held-clock.ts";
import { createRateLimiter } from "./rate-limit.ts";

const limit = { rate: 2, burst: 3 };

test("a burst is let through, then as many as the rate allows", async () => {
  const clock = createHeldClock();
  const limiter = createRateLimiter(clock);
  const takes = () => [1, 2, 3, 4].map(() => limiter.take("a", limit));
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
  expect(limiter.take("a", slow)).toBeUndefined();
  const wait = limiter.take("a", slow)!;
  await clock.advance(wait * 1000 - 1);
  expect(limiter.take("a", slow)).toBe(1);
  await clock.advance(1);
  expect(limiter.take("a", slow)).toBeUndefined();
});

test("keys do not share a bucket, and only so many are remembered", () => {
  const limiter = createRateLimiter(createHeldClock(), 2);
  const one = { rate: 1, burst: 1 };
  expect(limiter.take("a", one)).toBeUndefined();
  expect(limiter.take("b", one)).toBeUndefined();
  expect(limiter.take("a", one)).toBe(1);
  expect(limiter.take("c", one)).toBeUndefined();
  expect(limiter.take("b", one)).toBeUndefined();
});

test("of two buckets a request takes from both or from none, and is told the longer wait", async () => {
  const clock = createHeldClock();
  const limiter = createRateLimiter(clock);
  const ofAccount = { key: "account", limit: { rate: 0.1, burst: 2 } };
  const ofKey = { rate: 1, burst: 3, and: ofAccount };
  expect([1, 2, 3].map(() => limiter.take("a", ofKey))).toEqual([undefined, undefined, 10]);
  const alone = { rate: 1, burst: 3 };
  expect([1, 2].map(() => limiter.take("a", alone))).toEqual([undefined, 1]);
  expect(limiter.take("a", ofKey)).toBe(10);
  await clock.advance(10_000);
  expect([1, 2, 3].map(() => limiter.take("a", alone))).toEqual([undefined, undefined, undefined]);
  expect(limiter.take("a", ofKey)).toBe(1);
  expect(limiter.take("account", ofAccount.limit)).toBeUndefined();
});
