import type { Clock } from "../../../../core/clock.ts";

/**
 * Notices an SMSC that ends a session as soon as another one is bound, as Kannel's opensmppbox does. Two binds would end each
 * other for ever, and what is in the window would be in doubt each time. So the bind that was ended waits, and the other one stays.
 * For the binds of one role: a transmitter is no rival of a receiver.
 */
export interface Rivals {
  /** Milliseconds until this bind may be tried; 0: now. */
  holdMs(bind: object): number;
  /** To be called when this bind was accepted. */
  passed(bind: object): void;
  /** To be called when this bind has ended. `isUnasked`: it had been accepted, and we were not leaving it. */
  left(bind: object, isUnasked: boolean): void;
}

/** In words for the operator. */
export const RIVAL_REASON =
  "the SMSC ends a session as soon as another one is bound: it may allow fewer than `binds`; tried again every 5 minutes";

/** So soon after a bind another session's end may be its doing. */
const SOON_MS = 3_000;

/** So many binds in a row have to have ended another session: once or twice may be chance. */
const ENOUGH = 3;

const HOLD_MS = 5 * 60_000;

interface Accepted {
  readonly atMs: number;
  hasEndedAnother: boolean;
}

export function createRivals(clock: Clock): Rivals {
  const up = new Map<object, Accepted>();
  /** What may have ended a bind that is not up. */
  const suspects = new WeakMap<object, Accepted>();
  let newest: Accepted | undefined;
  let inARow = 0;
  const isUp = (accepted: Accepted) => [...up.values()].includes(accepted);
  return {
    holdMs(bind) {
      const suspect = suspects.get(bind);
      suspects.delete(bind);
      // If that has ended as well, the SMSC was away.
      if (!suspect || !isUp(suspect)) return 0;
      suspect.hasEndedAnother = true;
      inARow++;
      return inARow < ENOUGH ? 0 : HOLD_MS;
    },
    passed(bind) {
      if (!newest?.hasEndedAnother) inARow = 0;
      newest = { atMs: clock.monotonicMs(), hasEndedAnother: false };
      up.set(bind, newest);
    },
    left(bind, isUnasked) {
      const own = up.get(bind);
      up.delete(bind);
      if (!isUnasked || !newest || newest === own || newest.hasEndedAnother) return;
      if (clock.monotonicMs() - newest.atMs <= SOON_MS) suspects.set(bind, newest);
    },
  };
}
