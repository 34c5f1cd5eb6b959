import type { Clock } from "../core/clock.ts";
import type { Log } from "../core/log.ts";
import { untilStored } from "./until-stored.ts";

/** The most results that are kept so: each costs memory, and is tried again once a minute. */
const MAX_KEPT = 1_000;

/**
 * Stores what came of claimed work, and keeps it in memory until that succeeds: also where the database takes everything but this,
 * since a row is damaged for example. If it were forgotten, the work would be done again at the end of each lease.
 */
export interface Unstored {
  /**
   * Repeats `write` until it succeeds. Rejects when `signal` aborts, or at once if it is not an outage and too many results are kept.
   */
  untilStored<T>(write: () => Promise<T>, of: KeptResult): Promise<T>;
  /** How many results cannot be stored although the database is there. */
  count(): number;
}

export interface KeptResult {
  /** Fields of the log that say what the result is of. */
  readonly fields: Readonly<Record<string, unknown>>;
  /** Called before the first wait: the lease is to be kept. */
  readonly onWait: () => void;
}

export interface UnstoredDeps {
  readonly clock: Clock;
  readonly log: Pick<Log, "info" | "error">;
  /** Aborts when the process is stopping and has waited long enough. */
  readonly signal: AbortSignal;
}

export function createUnstored({ clock, log, signal }: UnstoredDeps): Unstored {
  let kept = 0;
  return {
    count: () => kept,
    async untilStored(write, { fields, onWait }) {
      let isKept = false;
      const onFault = (err: unknown) => {
        if (kept >= MAX_KEPT) return false;
        kept++;
        isKept = true;
        log.error({ err, ...fields }, "a result cannot be stored; it is kept, and tried again");
        return true;
      };
      try {
        const value = await untilStored({ clock, signal, onWait, onFault }, write);
        if (isKept) log.info(fields, "a result that could not be stored is stored");
        return value;
      } finally {
        if (isKept) kept--;
      }
    },
  };
}
