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
  /** Adds a job until the promise `work` has settled. Its lease ends at `leaseEndsMs` on the monotonic clock. */
  add(id: number, leaseEndsMs: number, work: Promise<void>): void;
  /** Of a job whose work is done but for storing what came of it: it counts until that has ended, however late. */
  keep(id: number): void;
  /** Their ids, except those whose lease was seen to be over `LATE_MS` ago or earlier: they may be claimed again. */
  ids(): readonly number[];
  count(): number;
  /** Resolves when all jobs that are under way now have ended, with or without an error. */
  whenEmpty(): Promise<void>;
}

interface Entry {
  readonly id: number;
  readonly leaseEndsMs: number;
  readonly work: Promise<void>;
  lateSinceMs?: number;
  isKept?: true;
}

/**
 * How long a job counts after the end of its lease has been noticed. A process that was suspended for an hour finds all its leases
 * expired, and the answers waiting in its sockets: it needs time to read them.
 */
const LATE_MS = 30_000;

export function createInFlightJobs(clock: Pick<Clock, "monotonicMs">): InFlightJobs {
  const entries = new Set<Entry>();
  const isInTime = (entry: Entry, nowMs: number) => {
    if (entry.isKept || nowMs < entry.leaseEndsMs) return true;
    entry.lateSinceMs ??= nowMs;
    return nowMs - entry.lateSinceMs < LATE_MS;
  };
  return {
    add(id, leaseEndsMs, work) {
      const entry: Entry = { id, leaseEndsMs, work };
      const remove = () => void entries.delete(entry);
      entries.add(entry);
      void work.then(remove, remove);
    },
    keep(id) {
      for (const entry of entries) if (entry.id === id) entry.isKept = true;
    },
    ids() {
      const nowMs = clock.monotonicMs();
      return [...entries].flatMap((entry) => (isInTime(entry, nowMs) ? [entry.id] : []));
    },
    count: () => entries.size,
    whenEmpty: async () => void (await Promise.allSettled([...entries].map(({ work }) => work))),
  };
}
