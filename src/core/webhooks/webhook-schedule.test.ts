import { expect, test } from "bun:test";
import fc from "fast-check";
import { nextDeliveryAt } from "./webhook-schedule.ts";

const NOW = Date.UTC(2026, 0, 15, 12, 0, 0);
const HOUR = 3_600_000;

test("a webhook that fails is tried after 5 s, 1 m, 5 m, 30 m, 2 h, 5 h, 10 h and 24 h, then no more", () => {
  const waits = Array.from({ length: 9 }, (_, index) => {
    const at = nextDeliveryAt({ failures: index + 1, now: NOW, jitter: 0.5 });
    return at === undefined ? undefined : (at - NOW) / 1_000;
  });
  expect(waits).toEqual([5, 60, 300, 1_800, 7_200, 18_000, 36_000, 86_400, undefined]);
});

test("each wait is spread by a tenth either way", () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 8 }),
      fc.double({ min: 0, max: 0.999, noNaN: true }),
      (failures, jitter) => {
        const middle = (nextDeliveryAt({ failures, now: NOW, jitter: 0.5 }) ?? 0) - NOW;
        const wait = (nextDeliveryAt({ failures, now: NOW, jitter }) ?? 0) - NOW;
        expect(wait).toBeGreaterThanOrEqual(middle * 0.9 - 1);
        expect(wait).toBeLessThanOrEqual(middle * 1.1 + 1);
      },
    ),
  );
});

test("a receiver that asks for time is not asked again before it, and a short wish does not hurry", () => {
  for (const jitter of [0, 0.999]) {
    const at = nextDeliveryAt({ failures: 1, now: NOW, jitter, retryAfterMs: HOUR }) ?? 0;
    expect(at).toBeGreaterThanOrEqual(NOW + HOUR);
    expect(at).toBeLessThanOrEqual(NOW + 1.1 * HOUR);
  }
  expect(nextDeliveryAt({ failures: 2, now: NOW, jitter: 0.5, retryAfterMs: 1_000 })).toBe(NOW + 60_000);
});

test("no wish of a receiver's makes more tries of it", () => {
  expect(nextDeliveryAt({ failures: 9, now: NOW, jitter: 0.5, retryAfterMs: 1_000 })).toBeUndefined();
});
