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
  /** By the order in which they were sent. */
  const overdue = new Set<number>();
  let sent = 0;
  let lastTaken = 0;
  const waiting = createCount();
  const untaken = createQuiet(clock);
  const unanswered = createQuiet(clock);
  const alarm = createAlarm(clock, onRoom);
  const heed = () => alarm.setFor(overdue.size > 0 ? limitMs - untaken.lastsMs() : 0);

  const answered = (number: number, isTaken: boolean) => {
    const before = overdue.size;
    unanswered.begin();
    overdue.delete(number);
    if (isTaken) {
      untaken.begin();
      lastTaken = Math.max(lastTaken, number);
      forgetUpTo(number, overdue);
    }
    heed();
    if (overdue.size < before) onRoom();
  };
  const missed = (number: number, isTrial: boolean) => {
    if (number > lastTaken) overdue.add(number);
    heed();
    return isTrial && overdue.size > 0 && unanswered.lastsMs() >= giveUpAfterMs(limitMs);
  };

  return {
    room(window) {
      if (overdue.size === 0) return window;
      return untaken.lastsMs() < limitMs ? 0 : Math.max(1, window - overdue.size);
    },
    begin() {
      const number = ++sent;
      // One that is sent after others are overdue. Where none is, our own process may have stood still, with the answers unread.
      const isTrial = overdue.size > 0;
      if (waiting.isZero() && !isTrial) for (const quiet of [untaken, unanswered]) quiet.begin();
      return sentSubmit(waiting.begin(), {
        answered: (isTaken) => answered(number, isTaken),
        missed: () => missed(number, isTrial),
      });
    },
    end() {
      overdue.clear();
      heed();
    },
  };
}

/** What it does once it no longer waits for its answer in time. */
function sentSubmit(end: () => void, { answered, missed }: SentSubmit): SentSubmit {
  return {
    answered(isTaken) {
      end();
      answered(isTaken);
    },
    missed() {
      end();
      return missed();
    },
  };
}

/** What was sent before one that the SMSC has taken waits in no queue of its own. Refusals may pass the queue. */
function forgetUpTo(number: number, overdue: Set<number>): void {
  for (const each of overdue) if (each <= number) overdue.delete(each);
}

/** The time since the last answer or, if that was to the last of all that had been sent, since the next submit_sm. */
function createQuiet(clock: Clock) {
  let sinceMs = clock.monotonicMs();
  return {
    lastsMs: () => clock.monotonicMs() - sinceMs,
    begin() {
      sinceMs = clock.monotonicMs();
    },
  };
}

function createAlarm(clock: Clock, ring: () => void) {
  let cancel = () => {};
  return {
    /** Rings once after this time, and not at an earlier setting; 0 or less: not at all. */
    setFor(ms: number) {
      cancel();
      cancel = ms > 0 ? clock.after(ms, ring) : () => {};
    },
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
