/**
 * Work at the end of each turn of the event loop, in two steps: in the first, the requests that have come are worked on;
 * in the second, their writes, and all others of the turn, are committed.
 */
export interface Turns {
  /** Runs `run` in the first step. It must not throw. */
  inStep(run: () => void): void;
  /** Runs `run` in the second step; called in that step itself, in that of the next turn. It must not throw. */
  last(run: () => void): void;
}

/** `schedule`: like `setImmediate`, it runs functions in the order given, and settles the promises of one before the next. */
export function createTurns(schedule: (run: () => void) => void): Turns {
  let first: (() => void)[] = [];
  let second: (() => void)[] = [];
  let isExpected = false;

  const runFirst = () => {
    const all = first;
    first = [];
    for (const run of all) run();
  };
  const runSecond = () => {
    const all = second;
    second = [];
    isExpected = false;
    if (first.length > 0) expect();
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
    inStep(run) {
      first.push(run);
      expect();
    },
    last(run) {
      second.push(run);
      expect();
    },
  };
}

/** The turns of this thread. */
export const turns = createTurns(setImmediate);
