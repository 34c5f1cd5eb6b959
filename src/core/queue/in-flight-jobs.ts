import type { Clock } from "../clock.ts";

/** The process that looks for expired leases, and its jobs whose leases it must not end: its wall clock may have jumped. */
export interface Sweeper {
  /** The name of the process in its heartbeats (`LeaseStore.heartbeat`); absent if it has none. */
  readonly process?: string;
  /** The ids of the jobs that this process is working on. */
  readonly inFlight: readonly number[];
}

export const NOTHING_IN_FLIGHT: Sweeper = { inFlight: [] };

/** The jobs, or webhooks, that this process is working on. */
export interface InFlightJobs {
  /**
   * Adds a job until its work, which `start` begins, has settled. Its lease ends at `leaseEndsMs` on the monotonic clock. The work calls
   * `keep` when it is done but for storing what came of it: the job counts until that has ended, however late.
   */
  add(id: number, leaseEndsMs: number, start: (keep: () => void) => Promise<void>): void;
  /** Their ids, except those whose lease was seen to be over `LATE_MS` ago or earlier: they may be claimed again. */
  ids(): readonly number[];
  count(): number;
  /** Resolves when all jobs that are under way now have ended, with or without an error. */
  whenEmpty(): Promise<void>;
}

interface Entry {
  readonly id: number;
  readonly leaseEndsMs: number;
  lateSinceMs?: number;
  isKept?: true;
}

/**
 * How long a job counts after the end of its lease has been noticed. A process that was suspended for an hour finds all its leases
 * expired, and the answers waiting in its sockets: it needs time to read them.
 */
const LATE_MS = 30_000;

export function createInFlightJobs(clock: Pick<Clock, "monotonicMs">): InFlightJobs {
  const entries = new Map<Entry, Promise<void>>();
  const isInTime = (entry: Entry, nowMs: number) => {
    if (entry.isKept || nowMs < entry.leaseEndsMs) return true;
    entry.lateSinceMs ??= nowMs;
    return nowMs - entry.lateSinceMs < LATE_MS;
  };
  return {
    add(id, leaseEndsMs, start) {
      const entry: Entry = { id, leaseEndsMs };
      const remove = () => void entries.delete(entry);
      const work = start(() => {
        entry.isKept = true;
      });
      entries.set(entry, work);
      void work.then(remove, remove);
    },
    ids() {
      const nowMs = clock.monotonicMs();
      return [...entries.keys()].flatMap((entry) => (isInTime(entry, nowMs) ? [entry.id] : []));
    },
    count: () => entries.size,
    whenEmpty: async () => void (await Promise.allSettled(entries.values())),
  };
}
