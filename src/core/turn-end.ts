/**
 * What runs at the end of a turn of the event loop, in two steps: first the requests that came in the turn are worked on, then
 * their writes, and all others of the turn, are committed together (ADR 28).
 */
export interface TurnEnd {
  /** Runs `run` in the first step: work on a request. It must not throw. */
  first(run: () => void): void;
  /** Runs `run` in the second step: a commit. Called in that step itself, it runs `run` in that of the next turn. It must not throw. */
  last(run: () => void): void;
}

/** `schedule`: like `setImmediate`, it runs functions in the order given, and settles the promises of one before the next. */
export function createTurnEnd(schedule: (run: () => void) => void): TurnEnd {
  let inFirst: (() => void)[] = [];
  let inSecond: (() => void)[] = [];
  let isExpected = false;

  const runFirst = () => {
    const all = inFirst;
    inFirst = [];
    for (const run of all) run();
  };
  const runSecond = () => {
    const all = inSecond;
    inSecond = [];
    isExpected = false;
    if (inFirst.length > 0) expect();
    for (const run of all) run();
  };
  // Both are scheduled at once, so that the second step follows in the same turn.
  const expect = () => {
    if (isExpected) return;
    isExpected = true;
    schedule(runFirst);
    schedule(runSecond);
  };
  return {
    first(run) {
      inFirst.push(run);
      expect();
    },
    last(run) {
      inSecond.push(run);
      expect();
    },
  };
}

/** The end of the turns of this thread. */
export const turnEnd = createTurnEnd(setImmediate);
