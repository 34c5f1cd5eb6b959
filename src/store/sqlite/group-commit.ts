import { StoreUnavailable } from "../store.ts";
import { type Driver, isOutage } from "./driver.ts";

/** Calls that may wait for a commit; beyond it the store says that it is busy. */
const MAX_WAITING = 20_000;

/** Work one transaction takes at the most, in rows or so: it bounds how long the loop stands still. */
const MAX_WEIGHT = 4_000;

export interface GroupCommit {
  /**
   * Runs `work` in a transaction shared with the other calls of this turn of the event loop, and resolves when
   * that is on disk. `work` may run twice, the second time on its own: it must leave no trace outside the
   * database that `onRollback` does not undo. `weight`: roughly its number of rows.
   */
  write<T>(work: () => T, weight?: number): Promise<T>;
  /** A transaction that may wait within; nothing else is written meanwhile. For the first start only. */
  alone<T>(work: () => Promise<T>): Promise<T>;
  /** Takes no more; resolves when all that waits is committed. */
  close(): Promise<void>;
}

export interface GroupCommitOptions {
  readonly driver: Driver;
  /** Calls back once per turn of the event loop, like `setImmediate`. */
  readonly schedule: (run: () => void) => void;
  readonly onCommit: () => void;
  readonly onRollback: () => void;
  /** Runs before each COMMIT; a throw makes the commit fail. */
  readonly beforeCommit?: () => void;
}

interface Call {
  readonly work: () => unknown;
  readonly weight: number;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
}

type Result = { readonly value: unknown } | { readonly error: unknown };

export function createGroupCommit(options: GroupCommitOptions): GroupCommit {
  const waiting: Call[] = [];
  const transaction = createTransaction(options);
  let isScheduled = false;
  let isClosed = false;
  let lastAlone: Promise<unknown> = Promise.resolve();
  let aloneCount = 0;
  const idle: (() => void)[] = [];

  const schedule = () => {
    if (isScheduled || aloneCount > 0 || waiting.length === 0) return;
    isScheduled = true;
    options.schedule(flush);
  };

  const flush = () => {
    isScheduled = false;
    if (aloneCount > 0) return;
    const group = takeGroup(waiting);
    const results = transaction.runGroup(group);
    schedule();
    group.forEach((call, index) => {
      settle(call, results[index] ?? { error: new Error("no result") });
    });
    if (waiting.length === 0) for (const done of idle.splice(0)) done();
    options.onCommit();
  };

  return {
    write<T>(work: () => T, weight = 1) {
      return new Promise<T>((resolve, reject) => {
        if (isClosed) return reject(new StoreUnavailable("the store is closed"));
        if (waiting.length >= MAX_WAITING) {
          return reject(new StoreUnavailable("too many writes are waiting"));
        }
        waiting.push({ work, weight, resolve: (value) => resolve(value as T), reject });
        schedule();
      });
    },
    alone(work) {
      if (isClosed) return Promise.reject(new StoreUnavailable("the store is closed"));
      aloneCount++;
      const mine = lastAlone.then(() => transaction.runAlone(work));
      lastAlone = mine.then(
        () => leave(),
        () => leave(),
      );
      return mine;
    },
    async close() {
      isClosed = true;
      await lastAlone;
      if (waiting.length > 0) await new Promise<void>((resolve) => void idle.push(resolve));
    },
  };

  function leave(): void {
    aloneCount--;
    options.onCommit();
    schedule();
  }
}

function takeGroup(waiting: Call[]): Call[] {
  let weight = 0;
  let count = 0;
  for (const call of waiting) {
    weight += call.weight;
    if (count > 0 && weight > MAX_WEIGHT) break;
    count++;
  }
  return waiting.splice(0, count);
}

function settle(call: Call, result: Result): void {
  if ("error" in result) call.reject(result.error);
  else call.resolve(result.value);
}

function createTransaction({ driver, onRollback, beforeCommit }: GroupCommitOptions) {
  const commit = () => {
    beforeCommit?.();
    driver.exec("COMMIT");
  };

  const rollback = () => {
    try {
      if (driver.isInTransaction()) driver.exec("ROLLBACK");
    } finally {
      onRollback();
    }
  };

  /** All in one, or a throw with nothing stored. */
  const runTogether = (group: readonly Call[], run: (call: Call) => Result): readonly Result[] => {
    try {
      driver.exec("BEGIN IMMEDIATE");
      const results = group.map(run);
      commit();
      return results;
    } catch (error) {
      rollback();
      throw error;
    }
  };

  return {
    runGroup(group: readonly Call[]): readonly Result[] {
      try {
        return runTogether(group, (call) => ({ value: call.work() }));
      } catch (error) {
        if (isUnavailable(error)) return group.map(() => ({ error: unavailable(error) }));
        if (group.length === 1) return [{ error }];
      }
      try {
        return runTogether(group, (call) => runApart(driver, call, onRollback));
      } catch (error) {
        return group.map(() => ({ error: isUnavailable(error) ? unavailable(error) : error }));
      }
    },
    async runAlone<T>(work: () => Promise<T>): Promise<T> {
      try {
        driver.exec("BEGIN IMMEDIATE");
        const value = await work();
        commit();
        return value;
      } catch (error) {
        rollback();
        throw isUnavailable(error) ? unavailable(error) : error;
      }
    },
  };
}

/** The group again after one of it has failed: each within a savepoint, so that one commit still serves them all. */
function runApart(driver: Driver, call: Call, onRollback: () => void): Result {
  driver.exec("SAVEPOINT call");
  try {
    const value = call.work();
    driver.exec("RELEASE call");
    return { value };
  } catch (error) {
    if (isUnavailable(error)) throw error;
    driver.exec("ROLLBACK TO call");
    driver.exec("RELEASE call");
    onRollback();
    return { error };
  }
}

function isUnavailable(error: unknown): boolean {
  return error instanceof StoreUnavailable || isOutage(error);
}

/** One error per call: each caller may add to its own. */
function unavailable(cause: unknown): StoreUnavailable {
  return cause instanceof StoreUnavailable
    ? new StoreUnavailable(cause.message, { cause })
    : new StoreUnavailable("the database cannot take the write", { cause });
}
