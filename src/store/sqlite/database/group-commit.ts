import { StoreUnavailable } from "../../store.ts";
import { createTransactions, type Results, type TransactionOptions } from "./transactions.ts";
import type { WriteLock } from "./write-lock.ts";

/** The most calls that wait for a commit. Beyond that the store says that it is busy. */
const MAX_WAITING = 20_000;

/** The most work in one transaction, roughly in rows. It bounds how long the event loop stands still. */
const MAX_WEIGHT = 4_000;

/** The most work in a transaction with calls that no client waits for: some 10 ms, since a client may come meanwhile. */
const MAX_WEIGHT_WITH_OTHERS = 1_000;

export interface GroupCommit {
  /**
   * Runs `work` in a transaction that it shares with the other calls of this turn of the event loop, or of two or three turns, and
   * resolves when that is on disk. `work` may run twice: outside the database it must leave no trace that `onRollback` does not
   * undo.
   */
  write<T>(work: () => T, options?: WriteOptions): Promise<T>;
  /** Takes no more calls, and resolves when all that wait are committed. */
  close(): Promise<void>;
}

export interface WriteOptions {
  /** Roughly the number of rows that it writes. */
  readonly weight?: number | undefined;
  readonly phase?: Phase | undefined;
  /**
   * A client waits for it. If more calls wait than a group takes, it overtakes those that no client waits for; calls of one kind
   * keep their order.
   */
  readonly isForClient?: boolean;
}

/** When a call runs within its group, whatever the order in which the calls came. Absent: `first`. */
export type Phase = "first" | "late" | "last";

const PHASES: readonly Phase[] = ["first", "late", "last"];

export interface GroupCommitOptions extends TransactionOptions {
  /** Runs a function once, like `setImmediate`: at the end of this turn of the event loop; called from there, of the next turn. */
  readonly schedule: (run: () => void) => void;
  readonly onCommit: () => void;
  /** Nothing else runs on this thread, so long transactions keep no client waiting. */
  readonly hasOwnThread?: boolean | undefined;
  /** Shared by the threads that write to the same database; absent: only this one does. */
  readonly lock?: WriteLock;
}

export function createGroupCommit(options: GroupCommitOptions): GroupCommit {
  const transactions = createTransactions(options);
  const line = createLine({
    ...inTurn(options),
    maxWithOthers: options.hasOwnThread ? MAX_WEIGHT : MAX_WEIGHT_WITH_OTHERS,
    flush(group) {
      const results = transactions.runGroup(group);
      return () => {
        answerAll(group, results);
        options.onCommit();
      };
    },
  });
  let isClosed = false;

  return {
    write<T>(work: () => T, { weight = 1, phase = "first", isForClient = false }: WriteOptions = {}) {
      if (isClosed) return Promise.reject(new StoreUnavailable("the store is closed"));
      const { promise, resolve, reject } = Promise.withResolvers<unknown>();
      line.join({ work, weight, phase, isForClient, resolve, reject });
      return promise as Promise<T>;
    },
    async close() {
      isClosed = true;
      await line.emptied();
    },
  };
}

/** A group is taken from the line only once the lock is held, so that it includes the calls that came meanwhile. */
function inTurn({ schedule, lock }: GroupCommitOptions): Pick<LineOptions, "schedule"> {
  return lock ? { schedule: (run) => schedule(() => lock.enter(run)) } : { schedule };
}

interface Call {
  readonly work: () => unknown;
  readonly weight: number;
  readonly phase: Phase;
  readonly isForClient: boolean;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
}

interface LineOptions {
  readonly schedule: (run: () => void) => void;
  /** The most weight of a group with calls that no client waits for. */
  readonly maxWithOthers: number;
  /** Commits a group, and returns the function that answers its calls. */
  readonly flush: (group: readonly Call[]) => () => void;
}

/** The calls that wait for the next turn. */
function createLine({ schedule, maxWithOthers, flush }: LineOptions) {
  const waiting: Call[] = [];
  const onEmpty: (() => void)[] = [];
  const gathering = createGathering();
  let isScheduled = false;

  const wake = () => {
    if (isScheduled || waiting.length === 0) return;
    isScheduled = true;
    schedule(turn);
  };
  const turn = () => {
    if (gathering.shouldWait(waiting)) return schedule(turn);
    isScheduled = false;
    const answer = flush(takeGroup(waiting, maxWithOthers));
    wake();
    if (waiting.length === 0) for (const done of onEmpty.splice(0)) done();
    answer();
  };

  return {
    join(call: Call): void {
      if (waiting.length >= MAX_WAITING) {
        call.reject(new StoreUnavailable("too many writes are waiting"));
        return;
      }
      waiting.push(call);
      wake();
    },
    emptied: async () => {
      if (waiting.length > 0) await new Promise<void>((resolve) => void onEmpty.push(resolve));
    },
  };
}

/** The most turns of the event loop that a group may take to gather. */
const MAX_TURNS = 3;

/** A group is complete once it has this share of the usual number of calls. */
const ENOUGH = 0.9;

/** How fast the usual number of calls falls from group to group, when fewer calls come. */
const DECAY = 0.9;

/**
 * Clients that are answered together call again together, but spread over a few turns of the event loop. As long as more of them
 * come, the commit waits, a turn at a time, since the disk takes as long for all of them as for the first few. It only waits if
 * all calls are of phase `late` (accepts and settlements): others, such as claims, keep somebody idle.
 */
function createGathering() {
  let usual = 0;
  let seen = 0;
  let turns = 0;
  return {
    shouldWait(waiting: readonly Call[]): boolean {
      const count = waiting.length;
      turns++;
      const isGrowing = count > seen;
      seen = count;
      const isEnough = count >= usual * ENOUGH || waiting.some(({ phase }) => phase !== "late");
      if (isGrowing && turns < MAX_TURNS && !isEnough) return true;
      usual = Math.max(count, usual * DECAY);
      seen = 0;
      turns = 0;
      return false;
    },
  };
}

/**
 * Takes as many calls from the start of the line as fit. If not all fit, those that clients wait for come first, but while there are
 * both kinds, each gets at least half, so that neither keeps the other from the disk.
 */
function takeGroup(waiting: Call[], maxWithOthers: number): Call[] {
  if (weightOf(waiting) <= maxWithOthers) return inOrder(waiting.splice(0));
  const forClients = waiting.filter(({ isForClient }) => isForClient);
  const others = waiting.filter(({ isForClient }) => !isForClient);
  const group = forClients.splice(
    0,
    countWithin(forClients, others.length > 0 ? maxWithOthers / 2 : MAX_WEIGHT),
  );
  const left = Math.max(maxWithOthers - weightOf(group), maxWithOthers / 2);
  group.push(...others.splice(0, countWithin(others, left)));
  waiting.splice(0, waiting.length, ...forClients, ...others);
  return inOrder(group);
}

/** How many of the first calls have at most this weight together; at least 1. */
function countWithin(calls: readonly Call[], most: number): number {
  let weight = 0;
  const count = calls.findIndex((call) => {
    weight += call.weight;
    return weight > most;
  });
  return count === -1 ? calls.length : Math.max(count, 1);
}

function weightOf(calls: readonly Call[]): number {
  return calls.reduce((sum, { weight }) => sum + weight, 0);
}

/** Sorts calls by phase, keeping their order within a phase. Mostly all are of one phase. */
function inOrder(group: Call[]): Call[] {
  const first = group[0]?.phase;
  if (group.every(({ phase }) => phase === first)) return group;
  return PHASES.flatMap((wanted) => group.filter(({ phase }) => phase === wanted));
}

function answerAll(group: readonly Call[], { values, errors }: Results): void {
  group.forEach((call, index) => {
    if (errors.has(index)) call.reject(errors.get(index));
    else call.resolve(values[index]);
  });
}
