import { StoreUnavailable } from "../../store.ts";
import { createTransactions, type Results, type TransactionOptions } from "./transactions.ts";
import type { WriteLock } from "./write-lock.ts";

/** Calls that may wait for a commit; beyond it the store says that it is busy. */
const MAX_WAITING = 20_000;

/** Work one transaction takes at the most, in rows or so: it bounds how long the loop stands still. */
const MAX_WEIGHT = 4_000;

export interface GroupCommit {
  /**
   * Runs `work` in a transaction shared with the other calls of this turn of the event loop, or of two or three, and
   * resolves when that is on disk. `work` may run twice, the second time on its own: it must leave no trace outside the
   * database that `onRollback` does not undo. `weight`: roughly its number of rows.
   */
  write<T>(work: () => T, weight?: number, place?: Place): Promise<T>;
  /** Takes no more; resolves when all that waits is committed. */
  close(): Promise<void>;
}

/** Within its group, whenever it came: the first in line run first. Absent: `first`. */
export type Place = "first" | "late" | "last";

const PLACES: readonly Place[] = ["first", "late", "last"];

export interface GroupCommitOptions extends TransactionOptions {
  /** Calls back once per turn of the event loop, like `setImmediate`. */
  readonly schedule: (run: () => void) => void;
  readonly onCommit: () => void;
  /** Of the threads that write to the same database; absent: there is but this one. */
  readonly lock?: WriteLock;
}

export function createGroupCommit(options: GroupCommitOptions): GroupCommit {
  const transactions = createTransactions(options);
  const line = createLine({
    ...inTurn(options),
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
    write<T>(work: () => T, weight = 1, place: Place = "first") {
      if (isClosed) return Promise.reject(new StoreUnavailable("the store is closed"));
      const { promise, resolve, reject } = Promise.withResolvers<unknown>();
      line.join({ work, weight, place, resolve, reject });
      return promise as Promise<T>;
    },
    async close() {
      isClosed = true;
      await line.emptied();
    },
  };
}

/** A group is taken from the line only when the lock is had: what came while it was waited for is part of it. */
function inTurn({ schedule, lock }: GroupCommitOptions): Pick<LineOptions, "schedule"> {
  return lock ? { schedule: (run) => schedule(() => lock.enter(run)) } : { schedule };
}

interface Call {
  readonly work: () => unknown;
  readonly weight: number;
  readonly place: Place;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
}

interface LineOptions {
  readonly schedule: (run: () => void) => void;
  /** Commits a group; what it gives back answers the calls. */
  readonly flush: (group: readonly Call[]) => () => void;
}

/** The calls that wait for the next turn. */
function createLine({ schedule, flush }: LineOptions) {
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
    if (gathering.goesOn(waiting)) return schedule(turn);
    isScheduled = false;
    const answer = flush(takeGroup(waiting));
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

/** Turns of the event loop that a group may take to come together. */
const MAX_TURNS = 3;

/** Of the calls that lately came together, so many are worth a commit. */
const ENOUGH = 0.9;

/** What came together long ago is not waited for. */
const FADING = 0.9;

/**
 * Clients that are answered together call again together, but not all within one turn of the event loop. While more
 * come the commit waits for them, a turn at a time: the disk takes as long for all of them as for the first few. What
 * is not late, such as a claim, has somebody waiting who goes on with it: then there is no waiting.
 */
function createGathering() {
  let usual = 0;
  let seen = 0;
  let turns = 0;
  return {
    goesOn(waiting: readonly Call[]): boolean {
      const count = waiting.length;
      turns++;
      const isGrowing = count > seen;
      seen = count;
      const isEnough = count >= usual * ENOUGH || waiting.some(({ place }) => place !== "late");
      if (isGrowing && turns < MAX_TURNS && !isEnough) return true;
      usual = Math.max(count, usual * FADING);
      seen = 0;
      turns = 0;
      return false;
    },
  };
}

function takeGroup(waiting: Call[]): Call[] {
  let weight = 0;
  let count = 0;
  for (const call of waiting) {
    weight += call.weight;
    if (count > 0 && weight > MAX_WEIGHT) break;
    count++;
  }
  return inOrder(waiting.splice(0, count));
}

/** By place, and those of one place as they came. Mostly all are of one. */
function inOrder(group: Call[]): Call[] {
  const place = group[0]?.place;
  if (group.every((call) => call.place === place)) return group;
  return PLACES.flatMap((wanted) => group.filter((call) => call.place === wanted));
}

function answerAll(group: readonly Call[], { values, errors }: Results): void {
  group.forEach((call, index) => {
    if (errors.has(index)) call.reject(errors.get(index));
    else call.resolve(values[index]);
  });
}
