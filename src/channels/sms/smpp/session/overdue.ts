import type { Clock } from "../../../../core/clock.ts";

/**
 * The submit_sm of a session that were not answered in time, and may still be. A slow SMSC has them in a queue: what it is handed
 * meanwhile only makes its answers later still, and may be the same messages, which are tried again. So it gets nothing while it
 * takes messages, however late. If it has taken none for a while, those that are overdue may be lost: it gets what they leave of its
 * window, and at least one submit_sm at a time, to find that out.
 */
export interface Overdue {
  /** How many of `window` submit_sm may be unanswered at present, those that are overdue not counted. */
  room(window: number): number;
  /** To be called when a submit_sm is sent. */
  begin(): SentSubmit;
  /** To be called when the session has ended. */
  end(): void;
}

export interface SentSubmit {
  /** It has an answer, in time, or late and recorded. `isTaken`: the SMSC has taken the message. */
  answered(isTaken: boolean): void;
  /** Its time is up. True if the session is to be given up: the SMSC has answered no submit_sm for `giveUpAfterMs`. */
  missed(): boolean;
}

export interface OverdueOptions {
  readonly clock: Clock;
  /** How long an answer may take. */
  readonly limitMs: number;
  /** Called when there may be more room. */
  readonly onRoom: () => void;
}

/** An SMSC may be slower than it is waited for. Its answers still count, but only on the same session. */
const LEAST_GIVE_UP_MS = 60_000;

/** For how long an SMSC may answer no submit_sm before the session is given up. */
export function giveUpAfterMs(limitMs: number): number {
  return Math.max(LEAST_GIVE_UP_MS, 2 * limitMs);
}

export function createOverdue({ clock, limitMs, onRoom }: OverdueOptions): Overdue {
  /** Those that still wait for their answer in time, and those that no longer do, in the order in which they were sent. */
  const waiting = new Set<number>();
  const overdue = new Set<number>();
  let sent = 0;
  let lastTaken = 0;
  /** When the SMSC last took a message, and last answered at all; or, if nothing was unanswered then, when the next was sent. */
  let takenAtMs = clock.monotonicMs();
  let answeredAtMs = takenAtMs;
  const timer = createTimer(clock, onRoom);
  const heed = () => timer.setFor(overdue.size > 0 ? takenAtMs + limitMs - clock.monotonicMs() : 0);
  return {
    room(window) {
      if (overdue.size === 0) return window;
      return clock.monotonicMs() < takenAtMs + limitMs ? 0 : Math.max(1, window - overdue.size);
    },
    begin() {
      const number = ++sent;
      // One that is sent after others are overdue. Where none is, our own process may have stood still, with the answers unread.
      const isTrial = overdue.size > 0;
      if (waiting.size === 0 && !isTrial) takenAtMs = answeredAtMs = clock.monotonicMs();
      waiting.add(number);
      return {
        answered(isTaken) {
          const before = overdue.size;
          waiting.delete(number);
          overdue.delete(number);
          answeredAtMs = clock.monotonicMs();
          if (isTaken) {
            takenAtMs = answeredAtMs;
            lastTaken = Math.max(lastTaken, number);
            forgetUpTo(number, overdue);
          }
          heed();
          if (overdue.size < before) onRoom();
        },
        missed() {
          waiting.delete(number);
          if (number > lastTaken) overdue.add(number);
          heed();
          return isTrial && overdue.size > 0 && clock.monotonicMs() >= answeredAtMs + giveUpAfterMs(limitMs);
        },
      };
    },
    end() {
      overdue.clear();
      heed();
    },
  };
}

/** What was sent before one that the SMSC has taken waits in no queue of its own. Refusals may pass the queue. */
function forgetUpTo(number: number, overdue: Set<number>): void {
  for (const each of overdue) if (each <= number) overdue.delete(each);
}

function createTimer(clock: Clock, ring: () => void) {
  let cancel = () => {};
  return {
    /** Rings once after this time, and not at an earlier setting; 0 or less: not at all. */
    setFor(ms: number) {
      cancel();
      cancel = ms > 0 ? clock.after(ms, ring) : () => {};
    },
  };
}
