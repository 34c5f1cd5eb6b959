import type { Clock } from "../core/clock.ts";

/** Milliseconds. Timers with a longer delay would fire at once. */
const MAX_DELAY_MS = 2_147_483_647;

/** If a timer is later than this, the process stood still, or was kept from running. */
const STOOD_STILL_MS = 1_000;

/** How long to wait then, so that what has come meanwhile is read from the sockets. */
const CATCH_UP_MS = 100;

/**
 * The machine's clock and timers. After a process has stood still (a paused container, SIGSTOP, a machine without
 * memory) all timers that are overdue fire before anything is read, and time limits would run out although the answers are
 * there. So a timer that comes late waits a little longer.
 */
export function createSystemClock(): Clock {
  const monotonicMs = () => performance.now();
  return {
    now: () => Date.now(),
    monotonicMs,
    after(delayMs, run) {
      const delay = Math.min(Math.max(0, delayMs), MAX_DELAY_MS);
      const lateMs = monotonicMs() + delay + STOOD_STILL_MS;
      let timer = setTimeout(() => {
        if (monotonicMs() < lateMs) run();
        else timer = setTimeout(run, CATCH_UP_MS);
      }, delay);
      return () => clearTimeout(timer);
    },
  };
}
