import type { Clock } from "../../core/clock.ts";

/** How often something was put off, in bounded memory. */
export interface RefusalCounts {
  /** True if `key` has been put off fewer than `times` times; this time is counted then, and forgotten otherwise. */
  refuses(key: string, times: number): boolean;
}

const CAPACITY = 20_000;

/** Nothing that is still wanted is asked for more rarely than this. */
const FORGET_AFTER_MS = 60_000;

/**
 * Lives in memory only: after a restart a message is put off from the start again. Where memory is full of younger
 * counts the answer is no, so that a crowd of messages is let through early and never kept waiting for ever.
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
