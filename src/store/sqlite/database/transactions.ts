import { damage, outage } from "../../outage.ts";
import { StoreUnavailable } from "../../store.ts";
import { type Driver, isDamage, isOutage } from "./driver.ts";

export interface TransactionOptions {
  readonly driver: Driver;
  /** Runs before each BEGIN. */
  readonly beforeBegin: () => void;
  readonly onRollback: () => void;
  /** Runs at the end of each transaction, as part of it. */
  readonly beforeEnd: () => void;
  /** Runs before each COMMIT; a throw makes the commit fail. */
  readonly beforeCommit?: () => void;
}

/** The results of the calls of a group. */
export interface Results {
  /** In the order of the calls; `undefined` for those that failed. */
  readonly values: readonly unknown[];
  /** By index of the call. */
  readonly errors: ReadonlyMap<number, unknown>;
}

export interface Transactions {
  /**
   * Runs all calls. Those that succeed share a commit, or few where a page is damaged. An outage fails all of them, any other error
   * only its own call.
   */
  runGroup(calls: readonly Work[]): Results;
}

interface Work {
  readonly work: () => unknown;
}

const NONE: ReadonlyMap<number, unknown> = new Map();

export function createTransactions(options: TransactionOptions): Transactions {
  const { beforeEnd } = options;
  const { begin, commit, rollback } = createControl(options);

  /** Runs and commits. Throws if nothing was stored. */
  const runTogether = (run: () => Results): Results => {
    try {
      begin();
      const results = run();
      beforeEnd();
      commit();
      return results;
    } catch (error) {
      rollback();
      throw error;
    }
  };

  const runGroup = (calls: readonly Work[]): Results => {
    try {
      return runTogether(() => ({ values: calls.map(runOne), errors: NONE }));
    } catch (error) {
      if (isDamage(error)) return runHalves(calls, error);
      if (isUnavailable(error) || calls.length === 1) return allFailed(calls, error);
    }
    try {
      return runTogether(() => runInSavepoints(options, calls));
    } catch (error) {
      return isDamage(error) ? runHalves(calls, error) : allFailed(calls, error);
    }
  };
  /** SQLite commits no transaction in which it has met a damaged page, so its calls need several, until that one fails alone. */
  const runHalves = (calls: readonly Work[], error: unknown): Results => {
    if (calls.length === 1) return allFailed(calls, error);
    const half = Math.ceil(calls.length / 2);
    const [first, second] = [runGroup(calls.slice(0, half)), runGroup(calls.slice(half))];
    const errors = [...second.errors].map(([index, each]) => [half + index, each] as const);
    return {
      values: calls.map((_, index) => (index < half ? first.values[index] : second.values[index - half])),
      errors: new Map([...first.errors, ...errors]),
    };
  };
  return { runGroup };
}

function runOne({ work }: Work): unknown {
  return work();
}

function allFailed(calls: readonly Work[], error: unknown): Results {
  return { values: [], errors: new Map(calls.map((_, index) => [index, toError(error)])) };
}

function createControl({ driver, onRollback, beforeBegin, beforeCommit }: TransactionOptions) {
  return {
    begin() {
      beforeBegin();
      driver.exec("BEGIN IMMEDIATE");
    },
    /** Any failure of a commit is an outage, since the calls themselves succeeded. */
    commit() {
      try {
        beforeCommit?.();
        driver.exec("COMMIT");
      } catch (cause) {
        throw outage("the database did not commit", cause);
      }
    },
    /** The engine may have rolled back by itself, and on a broken disk it may not be able to. */
    rollback() {
      try {
        if (driver.isInTransaction()) driver.exec("ROLLBACK");
      } catch (error) {
        if (!isOutage(error)) throw error;
      } finally {
        onRollback();
      }
    },
  };
}

/** Runs a group again after a call has failed: each in a savepoint, so that the others still share one commit. */
function runInSavepoints(
  { driver, onRollback, beforeEnd }: TransactionOptions,
  calls: readonly Work[],
): Results {
  const errors = new Map<number, unknown>();
  const values = calls.map(({ work }, index) => {
    driver.exec("SAVEPOINT call");
    try {
      const value = work();
      beforeEnd();
      driver.exec("RELEASE call");
      return value;
    } catch (error) {
      if (isUnavailable(error)) throw error;
      driver.exec("ROLLBACK TO call");
      driver.exec("RELEASE call");
      onRollback();
      errors.set(index, error);
      return undefined;
    }
  });
  return { values, errors };
}

function isUnavailable(error: unknown): boolean {
  return error instanceof StoreUnavailable || isOutage(error);
}

/** Turns an outage into the store's own error, one for each call, since callers may add to theirs. */
function toError(error: unknown): unknown {
  if (!isUnavailable(error)) return error;
  if (isDamage(error)) return damage(error);
  if (error instanceof StoreUnavailable) return new StoreUnavailable(error.message, { cause: error });
  return outage("the database cannot take the write", error);
}
