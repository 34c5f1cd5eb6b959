import type { Clock } from "../../core/clock.ts";

/** Often enough for a p99 over some minutes, and negligible beside the service's own work. */
const EVERY_MS = 500;

/** Keeps a timer going, so that there is one that can be late even if nothing else sets any. */
export function keepTimer(clock: Clock): { stop(): Promise<void> } {
  const tick = () => {
    cancel = clock.after(EVERY_MS, tick);
  };
  let cancel = clock.after(EVERY_MS, tick);
  return { stop: async () => cancel() };
}

/**
 * The same clock, but its timers report how late they are when they fire. Everything waits its turn in an event loop: as long as a
 * timer has waited, a request that came at the same time has waited too, before anything could measure it.
 *
 * @param onTimer called with milliseconds, not below 0
 */
export function reportLateTimers(clock: Clock, onTimer: (lateMs: number) => void): Clock {
  return {
    ...clock,
    after(delayMs, run) {
      const dueMs = clock.monotonicMs() + Math.max(0, delayMs);
      return clock.after(delayMs, () => {
        onTimer(Math.max(0, clock.monotonicMs() - dueMs));
        run();
      });
    },
  };
}
