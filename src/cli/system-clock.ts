import type { Clock } from "../core/clock.ts";

/** Milliseconds. Timers with a longer delay would fire at once. */
const MAX_DELAY_MS = 2_147_483_647;

/** The machine's clock and timers. */
export function createSystemClock(): Clock {
  return {
    now: () => Date.now(),
    monotonicMs: () => performance.now(),
    after(delayMs, run) {
      const timer = setTimeout(run, Math.min(Math.max(0, delayMs), MAX_DELAY_MS));
      return () => clearTimeout(timer);
    },
  };
}
