import type { Clock } from "../../src/core/clock.ts";

/** A clock that stands still until a test moves it. */
export interface HeldClock extends Clock {
  /** Moves time on, running every timer that comes due on the way, in order, each at its own time. */
  advance(ms: number): Promise<void>;
  /** Timers that wait. */
  pending(): number;
}

export function createHeldClock(startMs = Date.UTC(2026, 0, 15, 12, 0, 0)): HeldClock {
  let now = startMs;
  let nextId = 0;
  const timers = new Map<number, { at: number; run: () => void }>();

  const earliest = (limit: number) =>
    [...timers.entries()]
      .filter(([, t]) => t.at <= limit)
      .sort((a, b) => a[1].at - b[1].at || a[0] - b[0])[0];

  return {
    // Timers may be set for fractions of a millisecond; the wall clock knows none.
    now: () => Math.floor(now),
    monotonicMs: () => now - startMs,
    after(delayMs, run) {
      const id = nextId++;
      timers.set(id, { at: now + Math.max(0, delayMs), run });
      return () => void timers.delete(id);
    },
    async advance(ms) {
      const target = now + ms;
      for (let due = earliest(target); due; due = earliest(target)) {
        timers.delete(due[0]);
        now = Math.max(now, due[1].at);
        due[1].run();
        await settleMicrotasks();
      }
      now = target;
      await settleMicrotasks();
    },
    pending: () => timers.size,
  };
}

/** Lets promises that are already resolved, and I/O that is already in, run on. */
function settleMicrotasks(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
