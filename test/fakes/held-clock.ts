import type { Clock } from "../../src/core/clock.ts";

/** A clock that stands still until a test moves it. */
export interface HeldClock extends Clock {
  /**
   * Moves time on, running every timer that comes due on the way, in order, each at its own time. With `grainMs`, timers that
   * were set for less run at the next multiple of it, as on a busy machine: loops that look often turn once in that time.
   */
  advance(ms: number, options?: { readonly grainMs?: number }): Promise<void>;
  /** Timers that wait. */
  pending(): number;
}

interface Timer {
  readonly delayMs: number;
  readonly at: number;
  readonly run: () => void;
}

export function createHeldClock(startMs = Date.UTC(2026, 0, 15, 12, 0, 0)): HeldClock {
  let now = startMs;
  let nextId = 0;
  const timers = new Map<number, Timer>();

  /** Of those that run at one time, the one that was set first. */
  const takeFirst = (limit: number, runsAt: (timer: Timer) => number) => {
    let first: { readonly id: number; readonly timer: Timer; readonly at: number } | undefined;
    for (const [id, timer] of timers) {
      const at = runsAt(timer);
      if (at <= limit && !(first && first.at <= at)) first = { id, timer, at };
    }
    if (first) timers.delete(first.id);
    return first;
  };

  return {
    // Timers may be set for fractions of a millisecond; the wall clock knows none.
    now: () => Math.floor(now),
    monotonicMs: () => now - startMs,
    after(delayMs, run) {
      const id = nextId++;
      timers.set(id, { delayMs, at: now + Math.max(0, delayMs), run });
      return () => void timers.delete(id);
    },
    async advance(ms, { grainMs = 0 } = {}) {
      const [from, target] = [now, now + ms];
      const late = (at: number) => Math.min(target, from + Math.ceil((at - from) / grainMs) * grainMs);
      const runsAt = ({ delayMs, at }: Timer) => (delayMs < grainMs && at <= target ? late(at) : at);
      for (let due = takeFirst(target, runsAt); due; due = takeFirst(target, runsAt)) {
        now = Math.max(now, due.at);
        due.timer.run();
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
