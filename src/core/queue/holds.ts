import type { Clock } from "../clock.ts";

/** The process that looks for expired leases, and those it must not end: after a jump of its wall clock they only seem expired. */
export interface Sweeper {
  /** The name of the process in its heartbeats (`LeaseStore.heartbeat`); absent if it has none. */
  readonly process?: string;
  /** Ids of the jobs that this process is working on. */
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
  /** Without jobs that are later than `LATE_MS`: those may be claimed again. */
  ids(): readonly number[];
}

interface Hold {
  readonly id: number;
  readonly leaseEndsMs: number;
  lateSinceMs?: number;
}

/**
 * How long work is held beyond its lease, counted from when that is noticed. A process that was suspended for an hour finds
 * all its leases expired, and the answers waiting in its sockets: it needs time to read them.
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
