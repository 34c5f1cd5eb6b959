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
  /** Its time is up. True if the SMSC has answered no submit_sm for twice that time. */
  missed(): boolean;
}

export interface OverdueOptions {
  readonly clock: Clock;
  /** How long an answer may take. */
  readonly limitMs: number;
  /** Called when there may be more room. */
  readonly onRoom: () => void;
}

export function createOverdue(options: OverdueOptions): Overdue {
  const { limitMs, onRoom } = options;
  /** By the order in which they were sent. */
  const overdue = new Set<number>();
  let sent = 0;
  let waiting = 0;
  let lastAnswered = 0;
  const quiet = createQuiet(options);

  const heed = () => (overdue.size > 0 && waiting === 0 ? quiet.wake() : quiet.sleep());

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
      if (waiting === 0 && overdue.size === 0) quiet.begin();
      waiting++;
      let end = () => {
        waiting--;
        end = () => {};
      };
      return {
        answered() {
          end();
          answered(number);
        },
        missed() {
          end();
          if (number > lastAnswered) overdue.add(number);
          heed();
          return overdue.size > 0 && quiet.lastsMs() >= 2 * limitMs;
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
