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

const HOLD_MS = 5 * 60_000;

/** A bind that had been accepted longer ago than this is no longer one of those that end each other. */
const RECENT_MS = 2 * HOLD_MS;

interface Accepted {
  readonly atMs: number;
  /** Another bind had ended this one before. */
  readonly isBack: boolean;
  hasEndedAnother: boolean;
}

interface End {
  readonly by: Accepted;
  /** It had itself ended another when it came back. Once is no sign: an SMSC may end all of its sessions, one after the other. */
  readonly isAmongRivals: boolean;
  hasWaited: boolean;
}

export function createRivals(clock: Clock): Rivals {
  /** In the order in which they were accepted. */
  const up = new Map<object, Accepted>();
  /** How binds that are not up were ended by others. */
  const ends = new WeakMap<object, End>();
  const isWithin = (limitMs: number, { atMs }: Accepted) => clock.monotonicMs() - atMs <= limitMs;
  return {
    holdMs(bind) {
      const end = ends.get(bind);
      if (!end || end.hasWaited) return 0;
      end.hasWaited = true;
      if ([...up.values()].includes(end.by)) return end.isAmongRivals ? HOLD_MS : 0;
      // That has ended as well: the SMSC was away.
      ends.delete(bind);
      return 0;
    },
    passed(bind) {
      up.set(bind, { atMs: clock.monotonicMs(), isBack: ends.delete(bind), hasEndedAnother: false });
    },
    left(bind, isUnasked) {
      const own = up.get(bind);
      const later = [...up.values()].filter((_, place, all) => own && place > all.indexOf(own));
      up.delete(bind);
      // One bind ends one other: where more end, it is not its doing.
      const by = later.findLast((each) => !each.hasEndedAnother && isWithin(SOON_MS, each));
      if (!own || !by || !isUnasked) return;
      by.hasEndedAnother = true;
      const isAmongRivals = own.isBack && own.hasEndedAnother && isWithin(RECENT_MS, own);
      ends.set(bind, { by, isAmongRivals, hasWaited: false });
    },
  };
}
