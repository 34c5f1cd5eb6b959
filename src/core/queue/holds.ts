import type { Clock } from "../clock.ts";

/** Who looks for leases that have run out, and which of them it leaves alone: its wall clock may have jumped. */
export interface Sweeper {
  /** The process, by the name of its turns; absent where it takes none. */
  readonly process?: string;
  /** Ids of what the process is working on: the work itself will tell, or end. */
  readonly held: readonly number[];
}

export const NOTHING_HELD: Sweeper = { held: [] };

/** What this process is working on. */
export interface Holds {
  /**
   * Called with the end of the lease on the monotonic clock.
   * Returns the function that ends the hold, to be called when the work has ended, however it did.
   */
  hold(id: number, leaseEndsMs: number): () => void;
  /** Without what is hopelessly late: that may be begun again. */
  ids(): readonly number[];
}

interface Hold {
  readonly id: number;
  readonly leaseEndsMs: number;
  lateSinceMs?: number;
}

/**
 * How much longer than its lease the work is held, counted from when that is noticed. A process that stood still for an
 * hour finds all leases long over, and the answers in its sockets: it has to be given the time to read them.
 */
const LATE_MS = 30_000;

export function createHolds(clock: Pick<Clock, "monotonicMs">): Holds {
  const holds = new Set<Hold>();
  const isHeld = (hold: Hold, nowMs: number) => {
    if (nowMs < hold.leaseEndsMs) return true;
    hold.lateSinceMs ??= nowMs;
    return nowMs - hold.lateSinceMs < LATE_MS;
  };
  return {
    hold(id, leaseEndsMs) {
      const hold: Hold = { id, leaseEndsMs };
      holds.add(hold);
      return () => void holds.delete(hold);
    },
    ids() {
      const nowMs = clock.monotonicMs();
      return [...holds].flatMap((hold) => (isHeld(hold, nowMs) ? [hold.id] : []));
    },
  };
}
