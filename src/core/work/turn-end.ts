/**
 * Runs functions at the end of a turn of the event loop, in two steps: first the work on the requests that came in the turn, then
 * the commit of their writes and of all others of the turn (ADR 28).
 */
export interface TurnEnd {
  /** Runs `run` in the first step: work on a request. It must not throw. */
  first(run: () => void): void;
  /** Runs `run` in the second step: a commit. If that step has begun, `run` waits for the one of the next turn. It must not throw. */
  last(run: () => void): void;
}

/** `schedule`: like `setImmediate`, runs functions in the order given, and settles the promises of one before it runs the next. */
export function createTurnEnd(schedule: (run: () => void) => void): TurnEnd {
  let requests: (() => void)[] = [];
  let commits: (() => void)[] = [];
  let isScheduled = false;

  const runRequests = () => {
    const all = requests;
    requests = [];
    for (const run of all) run();
  };
  const runCommits = () => {
    const all = commits;
    commits = [];
    isScheduled = false;
    if (requests.length > 0) scheduleBoth();
    for (const run of all) run();
  };
  // Both are scheduled at once, so that the second step follows in the same turn.
  const scheduleBoth = () => {
    if (isScheduled) return;
    isScheduled = true;
    schedule(runRequests);
    schedule(runCommits);
  };
  return {
    first(run) {
      requests.push(run);
      scheduleBoth();
    },
    last(run) {
      commits.push(run);
      scheduleBoth();
    },
  };
}

/** The end of each turn on this thread. */
export const turnEnd = createTurnEnd(setImmediate);
