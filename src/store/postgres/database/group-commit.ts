import type { Clock } from "../../../core/clock.ts";
import { isOutage, OutcomeUnknown, StoreUnavailable } from "../../store.ts";

/** How many calls may wait for a commit. Further ones are told that the store is busy. */
const MAX_WAITING = 20_000;

/** How long a call may wait to begin. Then it is rejected, to be repeated later: the database does not keep up. */
const PATIENCE_MS = 5_000;

/** How often to look for calls that have waited too long. */
const CHECK_MS = 1_000;

/** A further group starts beside those under way once it has this many calls for each of theirs. */
const SHARE = 0.4;

/** The most work that one transaction takes, roughly in rows. */
const MAX_WEIGHT = 4_000;

type Ticking = Pick<Clock, "monotonicMs" | "after">;

export interface GroupOptions<Request, Result> {
  /** Absent: calls wait for their group as long as it takes. */
  readonly clock?: Ticking;
  /**
   * Runs requests in one transaction: a result for each, in order, or a throw with nothing stored. It may run again
   * with some of them. If a result is `undefined`, that caller is told that the store is unavailable.
   */
  readonly run: (requests: readonly Request[]) => Promise<readonly (Result | undefined)[]>;
  /** How many groups may be under way at once, so that this process works while the server does; absent: one. */
  readonly atOnce?: number;
  /** Two requests of the same name are never under way at once: the second has to see what the first has done. */
  readonly nameOf: (request: Request) => string | undefined;
  readonly weightOf: (request: Request) => number;
  /** Whether, after this error, halving the group to find the request that failed takes too long: then each is tried on its own. */
  readonly isSlow?: (error: unknown) => boolean;
}

interface Call<Request, Result> {
  readonly request: Request;
  readonly name: string | undefined;
  readonly sinceMs: number;
  readonly resolve: (value: Result) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Runs calls in shared transactions: those of one turn of the event loop together, with those that came while earlier
 * groups were under way. A call that fails fails alone.
 */
export function createGroupCommit<Request, Result>(
  options: GroupOptions<Request, Result>,
): (request: Request) => Promise<Result> {
  const { clock, nameOf, atOnce = 1 } = options;
  const waiting: Call<Request, Result>[] = [];
  /** Groups under way, with the number of their calls and the calls' names. */
  const underWay = { groups: 0, calls: 0, names: new Set<string>() };
  let isScheduled = false;

  const next = async () => {
    isScheduled = false;
    const group = takeGroup(options, waiting, underWay.names);
    // Every waiting call has the name of one under way, whose end wakes it.
    if (group.length === 0) return;
    underWay.groups++;
    underWay.calls += group.length;
    wake();
    await commit(options, group);
    underWay.groups--;
    underWay.calls -= group.length;
    for (const { name } of group) if (name !== undefined) underWay.names.delete(name);
    wake();
  };
  const wake = () => {
    if (isScheduled || underWay.groups >= atOnce || waiting.length === 0) return;
    // Started at once, a further group would hold only the few callers that came back first.
    if (underWay.groups > 0 && waiting.length < underWay.calls * SHARE) return;
    isScheduled = true;
    setImmediate(next);
  };
  const watchStale = clock && createStaleWatch(clock, waiting);
  return (request) =>
    new Promise<Result>((resolve, reject) => {
      if (waiting.length >= MAX_WAITING) return reject(new StoreUnavailable("too many writes are waiting"));
      waiting.push({ request, name: nameOf(request), sinceMs: clock?.monotonicMs() ?? 0, resolve, reject });
      watchStale?.();
      wake();
    });
}

/** Rejects calls that have waited too long; checks as long as any wait. */
function createStaleWatch(
  clock: Ticking,
  waiting: Pick<Call<unknown, unknown>, "sinceMs" | "reject">[],
): () => void {
  let isWatching = false;

  const check = () => {
    isWatching = false;
    const nowMs = clock.monotonicMs();
    // They wait in the order in which they came.
    const firstFresh = waiting.findIndex(({ sinceMs }) => nowMs - sinceMs < PATIENCE_MS);
    for (const { reject } of waiting.splice(0, firstFresh === -1 ? waiting.length : firstFresh))
      reject(new StoreUnavailable("the database does not keep up"));
    start();
  };
  const start = () => {
    if (isWatching || waiting.length === 0) return;
    isWatching = true;
    clock.after(CHECK_MS, check);
  };
  return start;
}

/** Takes waiting calls up to `MAX_WEIGHT`, but none whose name is in `names`; adds their names to it. */
function takeGroup<Request, Result>(
  { weightOf }: GroupOptions<Request, Result>,
  waiting: Call<Request, Result>[],
  names: Set<string>,
): readonly Call<Request, Result>[] {
  const group: Call<Request, Result>[] = [];
  const left: Call<Request, Result>[] = [];
  let weight = 0;
  for (const call of waiting) {
    const { name } = call;
    const isFull = group.length > 0 && weight + weightOf(call.request) > MAX_WEIGHT;
    if (isFull) weight = MAX_WEIGHT;
    if (isFull || (name !== undefined && names.has(name))) {
      left.push(call);
      continue;
    }
    if (name !== undefined) names.add(name);
    weight += weightOf(call.request);
    group.push(call);
  }
  waiting.splice(0, waiting.length, ...left);
  return group;
}

/** If the group cannot be stored because of one call, its halves are tried on their own until that one is found. */
async function commit<Request, Result>(
  options: GroupOptions<Request, Result>,
  group: readonly Call<Request, Result>[],
): Promise<void> {
  try {
    const results = await options.run(group.map(({ request }) => request));
    group.forEach((call, index) => {
      const result = results[index];
      if (result === undefined) call.reject(new StoreUnavailable("other transactions stood in the way"));
      else call.resolve(result);
    });
  } catch (error) {
    if (group.length === 1 || isOutage(error)) {
      for (const call of group) call.reject(errorForOne(error));
      return;
    }
    const size = options.isSlow?.(error) ? 1 : Math.ceil(group.length / 2);
    for (let at = 0; at < group.length; at += size) await commit(options, group.slice(at, at + size));
  }
}

/** An error for each call, since callers may add to theirs. */
function errorForOne(error: unknown): unknown {
  if (error instanceof OutcomeUnknown) return new OutcomeUnknown(error.message, { cause: error });
  const isOfAll = error instanceof StoreUnavailable && isOutage(error);
  return isOfAll ? new StoreUnavailable(error.message, { cause: error }) : error;
}

/**
 * For a method that takes a list and gives a result for each of its items: the lists of a group are run as one.
 *
 * @param weight of an item; see `GroupOptions.weightOf`
 */
export function createListCommit<Item, Result>(
  run: (items: readonly Item[]) => Promise<readonly Result[]>,
  weight = 1,
): (items: readonly Item[]) => Promise<readonly Result[]> {
  const enter = createGroupCommit<readonly Item[], readonly Result[]>({
    nameOf: () => undefined,
    weightOf: ({ length }) => length * weight,
    async run(calls) {
      return splitAlike(await run(calls.flat()), calls);
    },
  });
  return async (items) => (items.length === 0 ? [] : enter(items));
}

/** Splits the results of calls that ran as one list into a list for each call. */
function splitAlike<T>(
  results: readonly T[],
  calls: readonly (readonly unknown[])[],
): readonly (readonly T[])[] {
  let end = 0;
  return calls.map(({ length }) => {
    const start = end;
    end += length;
    return results.slice(start, end);
  });
}
