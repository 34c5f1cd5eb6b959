import type { Clock } from "../../core/clock.ts";

/** Counts how often each message was deferred, in bounded memory. */
export interface RefusalCounts {
  /** Whether `key` has been deferred fewer than `times` times. If so, counts once more; if not, forgets the count. */
  refuses(key: string, times: number): boolean;
}

const CAPACITY = 20_000;

/** A message whose count is still needed is asked about more often than this. */
const FORGET_AFTER_MS = 60_000;

/**
 * The counts are only in memory: after a restart a message is deferred from the start again. When the memory is full the
 * answer is false. Then messages pass too early, but none is deferred for ever.
 */
export function createRefusalCounts(clock: Pick<Clock, "monotonicMs">, capacity = CAPACITY): RefusalCounts {
  /** Oldest first. */
  const counts = new Map<string, { count: number; touchedMs: number }>();

  const forgetOld = () => {
    for (const [key, { touchedMs }] of counts) {
      if (clock.monotonicMs() - touchedMs < FORGET_AFTER_MS) return;
      counts.delete(key);
    }
  };

  return {
    refuses(key, times) {
      const count = counts.get(key)?.count ?? 0;
      counts.delete(key);
      if (count >= times) return false;
      forgetOld();
      if (counts.size >= capacity) return false;
      counts.set(key, { count: count + 1, touchedMs: clock.monotonicMs() });
      return true;
    },
  };
}
