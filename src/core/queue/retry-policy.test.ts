import { expect, test } from "bun:test";
import { nextAttemptAt, RETRY_POLICIES } from "./retry-policy.ts";

const NOW = 1_700_000_000_000;
const FAR = NOW + 1e9;
const base = { attempt: 1, counted: true, now: NOW, expiresAt: FAR, jitter: 0.5 };

test("waits grow with the attempts, and the last one repeats", () => {
  const waits = [1, 2, 3, 7, 8, 15].map(
    (attempt) => (nextAttemptAt(RETRY_POLICIES.sms, { ...base, attempt }) ?? 0) - NOW,
  );
  expect(waits).toEqual([5_000, 15_000, 30_000, 600_000, 600_000, 600_000]);
});

test("an SMS is given up after 20 attempts, an email only at the end of its window", () => {
  expect(nextAttemptAt(RETRY_POLICIES.sms, { ...base, attempt: 20 })).toBeUndefined();
  expect(nextAttemptAt(RETRY_POLICIES.email, { ...base, attempt: 200 })).toBeDefined();
});

test("what cost no attempt is tried again as soon as the provider wishes, for ever", () => {
  const free = { ...base, attempt: 500, counted: false };
  expect(nextAttemptAt(RETRY_POLICIES.sms, free)).toBe(NOW + 1_000);
  expect(nextAttemptAt(RETRY_POLICIES.sms, { ...free, retryAfterMs: 300 })).toBe(NOW + 300);
});

test("a provider's wish for more time is honoured: nothing is tried before it is over, nor all at once then", () => {
  for (const counted of [true, false])
    for (const [jitter, ms] of [
      [0, 66_000],
      [0.25, 63_000],
      [0.5, 60_000],
      [0.75, 63_000],
    ] as const) {
      const wish = { ...base, counted, jitter, retryAfterMs: 60_000 };
      expect(nextAttemptAt(RETRY_POLICIES.sms, wish)).toBe(NOW + ms);
    }
});

test("the last try is at the end of the window, where it expires", () => {
  expect(nextAttemptAt(RETRY_POLICIES.email, { ...base, expiresAt: NOW + 10 })).toBe(NOW + 10);
});

test("repeats are spread by a tenth either way", () => {
  expect(nextAttemptAt(RETRY_POLICIES.sms, { ...base, jitter: 0 })).toBe(NOW + 4_500);
  expect(nextAttemptAt(RETRY_POLICIES.sms, { ...base, jitter: 0.999 })).toBe(NOW + 5_499);
});
