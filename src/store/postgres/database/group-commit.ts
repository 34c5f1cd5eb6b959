import type { Clock } from "../../../core/clock.ts";
import { OutcomeUnknown, StoreUnavailable } from "../../store.ts";

/** Calls that may wait for a commit; beyond it the store says that it is busy. */
const MAX_WAITING = 20_000;

/** A call whose group has not begun by then is told to come again: the database does not keep up. */
const PATIENCE_MS = 5_000;

/** How often those who wait are looked at. */
const LOOK_MS = 1_000;

/** Of the calls under way: so many are worth a group of their own beside them. */
const SHARE = 0.4;

/** Work one transaction takes at the most, in rows or so. */
const MAX_WEIGHT = 4_000;

type Ticking = Pick<Clock, "monotonicMs" | "after">;

export interface GroupOptions<Request, Result> {
  /** Absent: calls wait for their group as long as it takes. */
  readonly clock?: Ticking;
  /** Calls back once per turn of the event loop, like `setImmediate`. */
  readonly schedule: (run: () => void) => void;
  /**
   * All in one transaction: a result for each, in order, or a throw with nothing stored. It may run again with some of
   * them. `undefined`: of this one it cannot be said now; its caller is told that the store is unavailable.
   */
  readonly run: (requests: readonly Request[]) => Promise<readonly (Result | undefined)[]>;
  /** Groups that may be under way at once, so that the loop works while the server does; absent: one. */
  readonly atOnce?: number;
  /** Two of the same name are never under way at once: the second is to see what the first has done. */
  readonly nameOf: (request: Request) => string | undefined;
  readonly weightOf: (request: Request) => number;
  /** Finding out with halves which one it was would take too long: each is tried on its own. */
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
 * The calls of one turn of the event loop, and those that come while a commit is under way, share a transaction. One
 * that fails fails alone.
 */
export function createGroupCommit<Request, Result>(
  options: GroupOptions<Request, Result>,
): (request: Request) => Promise<Result> {
  const { clock, schedule, nameOf, atOnce = 1 } = options;
  const waiting: Call<Request, Result>[] = [];
  /** Calls of the groups under way, and their names. */
  const underWay = { groups: 0, calls: 0, names: new Set<string>() };
  let isScheduled = false;

  const next = async () => {
    isScheduled = false;
    const group = takeGroup(options, waiting, underWay.names);
    // All that wait have the name of one under way, whose end wakes them.
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
    // A second one is to carry its share: else it would be the few that came back first.
    if (underWay.groups > 0 && waiting.length < underWay.calls * SHARE) return;
    isScheduled = true;
    schedule(() => void next());
  };
  const sendAway = clock && createSendAway(clock, waiting);
  return (request) =>
    new Promise<Result>((resolve, reject) => {
      if (waiting.length >= MAX_WAITING) return reject(new StoreUnavailable("too many writes are waiting"));
      waiting.push({ request, name: nameOf(request), sinceMs: clock?.monotonicMs() ?? 0, resolve, reject });
      sendAway?.();
      wake();
    });
}

/** Sees to it that nobody waits for long, as long as anybody does. */
function createSendAway(
  clock: Ticking,
  waiting: Pick<Call<unknown, unknown>, "sinceMs" | "reject">[],
): () => void {
  let isLooking = false;

  const look = () => {
    isLooking = false;
    const nowMs = clock.monotonicMs();
    // In the order in which they came.
    const patient = waiting.findIndex(({ sinceMs }) => nowMs - sinceMs < PATIENCE_MS);
    for (const { reject } of waiting.splice(0, patient === -1 ? waiting.length : patient))
      reject(new StoreUnavailable("the database does not keep up"));
    start();
  };
  const start = () => {
    if (isLooking || waiting.length === 0) return;
    isLooking = true;
    clock.after(LOOK_MS, look);
  };
  return start;
}

/** Adds the names of the group to `names`, which it keeps away from. */
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

/** Where one of them cannot be stored the halves are tried on their own, until it is found. */
async function commit<Request, Result>(
  options: GroupOptions<Request, Result>,
  group: readonly Call<Request, Result>[],
): Promise<void> {
  try {
    const results = await options.run(group.map(({ request }) => request));
    group.forEach((call, index) => {
      const result = results[index];
      if (result === undefined) call.reject(new StoreUnavailable("others stood in the way"));
      else call.resolve(result);
    });
  } catch (error) {
    if (group.length === 1 || error instanceof StoreUnavailable) {
      for (const call of group) call.reject(forOne(error));
      return;
    }
    const size = options.isSlow?.(error) ? 1 : Math.ceil(group.length / 2);
    for (let at = 0; at < group.length; at += size) await commit(options, group.slice(at, at + size));
  }
}

/** One error per call, since each caller may add to its own. */
function forOne(error: unknown): unknown {
  if (error instanceof OutcomeUnknown) return new OutcomeUnknown(error.message, { cause: error });
  return error instanceof StoreUnavailable ? new StoreUnavailable(error.message, { cause: error }) : error;
}
