/**
 * The end of each turn of the event loop, in two steps: first what requests have brought is worked on, then what came of
 * that, and of everything else, is committed.
 */
export interface Turns {
  /** Runs `run` in the first step of this turn's end. It does not throw. */
  inStep(run: () => void): void;
  /** Runs `run` in the second step; when asked for in that step itself, in the next turn's. It does not throw. */
  last(run: () => void): void;
}

/** `schedule`: like `setImmediate`, which runs what was given first first, with its promises' consequences. */
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
  // Both at once, so that the second is there already when the first has something to commit.
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

/** Of this thread. */
export const turns = createTurns(setImmediate);
