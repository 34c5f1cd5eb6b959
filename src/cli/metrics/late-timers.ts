import type { Clock } from "../../core/clock.ts";

/** Often enough for a p99 of some minutes, and nothing beside what the service does. */
const EVERY_MS = 500;

/** Keeps a timer going, so that there is one to be late where nothing else sets any. */
export function keepTimer(clock: Clock): { stop(): Promise<void> } {
  const tick = () => {
    cancel = clock.after(EVERY_MS, tick);
  };
  let cancel = clock.after(EVERY_MS, tick);
  return { stop: async () => cancel() };
}

/**
 * The same clock, whose timers report how late they are when they fire. All that an event loop does waits its turn: what a
 * timer waited, a request that arrived at the same time waited as well, before anything could measure it.
 *
 * @param onTimer gets milliseconds, not below 0
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
