import { HOUR_MS } from "../core/time/durations.ts";

/**
 * How long after a walk from the oldest message the next one starts. The messages that it passes over stay for days, and may be
 * most of the old ones, such as emails that a relay has taken.
 */
const ROUND_MS = 6 * HOUR_MS;

/** How far a walk has come. */
export interface PrunedStretch {
  /** The last id that was examined. */
  readonly last: string;
  readonly isAtEnd: boolean;
}

/** The state of a walk over old messages in order of id, of which each call goes on where the one before has ended. */
export interface PruneRound {
  /** The id to go on after; "": from the oldest message on. At the end it stays: what becomes old is found behind it, until the next round. */
  from(before: number): string;
  goOn(stretch: PrunedStretch): void;
}

export function createPruneRound(): PruneRound {
  let last = "";
  let isAtEnd = true;
  /** The bound of the walk's first call. */
  let begunBefore = Number.NEGATIVE_INFINITY;
  return {
    from(before) {
      if (isAtEnd && Math.abs(before - begunBefore) >= ROUND_MS) {
        last = "";
        begunBefore = before;
      }
      return last;
    },
    goOn(stretch) {
      ({ last, isAtEnd } = stretch);
    },
  };
}
