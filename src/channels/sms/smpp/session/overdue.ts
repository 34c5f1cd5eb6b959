import type { Clock } from "../../../../core/clock.ts";

/**
 * The submit_sm of a session that were not answered in time, and may still be. A slow SMSC has them in a queue: what it is handed
 * meanwhile only makes its answers later still, and may be the same messages, which are tried again. So it gets nothing while answers
 * come, and, if none has come for a while, one submit_sm at a time, to find out whether the earlier ones are lost.
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
  /** It has an answer, in time, or late and recorded. */
  answered(): void;
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

export function createOverdue(options: OverdueOptions): Overdue {
  const { limitMs, onRoom } = options;
  /** By the order in which they were sent. */
  const overdue = new Set<number>();
  let sent = 0;
  const waiting = createCount();
  let lastAnswered = 0;
  const quiet = createQuiet(options);

  const heed = () => (overdue.size > 0 && waiting.isZero() ? quiet.wake() : quiet.sleep());

  const answered = (number: number) => {
    quiet.begin();
    lastAnswered = Math.max(lastAnswered, number);
    const before = overdue.size;
    // One that was sent later has its answer: what was sent before it waits in no queue of the SMSC's.
    for (const each of overdue) if (each <= number) overdue.delete(each);
    heed();
    if (overdue.size < before) onRoom();
  };

  return {
    room(window) {
      if (overdue.size === 0) return window;
      return quiet.lastsMs() < limitMs ? 0 : 1;
    },
    begin() {
      const number = ++sent;
      // One that is sent after others are overdue. Where none is, our own process may have stood still, with the answers unread.
      const isTrial = overdue.size > 0;
      if (waiting.isZero() && !isTrial) quiet.begin();
      const end = waiting.begin();
      return {
        answered() {
          end();
          answered(number);
        },
        missed() {
          end();
          if (number > lastAnswered) overdue.add(number);
          heed();
          return isTrial && overdue.size > 0 && quiet.lastsMs() >= giveUpAfterMs(limitMs);
        },
      };
    },
    end: quiet.sleep,
  };
}

/** The time since the last answer or, if that was to the last of all that had been sent, since the next submit_sm. */
function createQuiet({ clock, limitMs, onRoom }: OverdueOptions) {
  let sinceMs = clock.monotonicMs();
  let cancel = () => {};
  const lastsMs = () => clock.monotonicMs() - sinceMs;
  return {
    lastsMs,
    begin() {
      sinceMs = clock.monotonicMs();
    },
    /** Calls `onRoom` once no answer has come for `limitMs`. */
    wake() {
      cancel();
      cancel = clock.after(Math.max(0, limitMs - lastsMs()), onRoom);
    },
    sleep: () => cancel(),
  };
}

/** How many there are that have begun and not ended. */
function createCount() {
  let count = 0;
  return {
    isZero: () => count === 0,
    /** What it returns is to be called at the end; only the first call counts. */
    begin() {
      count++;
      let isOver = false;
      return () => {
        if (!isOver) count--;
        isOver = true;
      };
    },
  };
}
