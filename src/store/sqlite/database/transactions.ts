import { StoreUnavailable } from "../../store.ts";
import { type Driver, isOutage } from "./driver.ts";

export interface TransactionOptions {
  readonly driver: Driver;
  /** Runs before each BEGIN. */
  readonly beforeBegin?: () => void;
  readonly onRollback: () => void;
  /** Runs at the end of each transaction, as part of it. */
  readonly beforeEnd?: () => void;
  /** Runs before each COMMIT; a throw makes the commit fail. */
  readonly beforeCommit?: () => void;
}

/** What became of the calls of a group, in their order. */
export interface Results {
  readonly values: readonly unknown[];
  /** Of those that failed, by their place; they have no value. */
  readonly errors: ReadonlyMap<number, unknown>;
}

export interface Transactions {
  /** Runs them all; those that succeed are in one commit. Outages fail all; other errors only their own. */
  runGroup(calls: readonly Work[]): Results;
}

interface Work {
  readonly work: () => unknown;
}

const NONE: ReadonlyMap<number, unknown> = new Map();

export function createTransactions(options: TransactionOptions): Transactions {
  const { beforeEnd } = options;
  const { begin, commit, rollback } = createBrackets(options);

  /** All in one, or a throw with nothing stored. */
  const runTogether = (run: () => Results): Results => {
    try {
      begin();
      const results = run();
      beforeEnd?.();
      commit();
      return results;
    } catch (error) {
      rollback();
      throw error;
    }
  };

  return {
    runGroup(calls) {
      try {
        return runTogether(() => ({ values: calls.map(runOne), errors: NONE }));
      } catch (error) {
        if (isUnavailable(error) || calls.length === 1) return allFailed(calls, error);
      }
      try {
        return runTogether(() => runEachApart(options, calls));
      } catch (error) {
        return allFailed(calls, error);
      }
    },
  };
}

function runOne({ work }: Work): unknown {
  return work();
}

function allFailed(calls: readonly Work[], error: unknown): Results {
  return { values: [], errors: new Map(calls.map((_, index) => [index, toError(error)])) };
}

function createBrackets({ driver, onRollback, beforeBegin, beforeCommit }: TransactionOptions) {
  return {
    begin() {
      beforeBegin?.();
      driver.exec("BEGIN IMMEDIATE");
    },
    /** Whatever keeps a commit from the disk is an outage: the calls themselves were sound. */
    commit() {
      try {
        beforeCommit?.();
        driver.exec("COMMIT");
      } catch (cause) {
        throw new StoreUnavailable("the database did not commit", { cause });
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

/** The group again after one of it has failed: each within a savepoint, so that one commit still serves them all. */
function runEachApart(
  { driver, onRollback, beforeEnd }: TransactionOptions,
  calls: readonly Work[],
): Results {
  const errors = new Map<number, unknown>();
  const values = calls.map(({ work }, index) => {
    driver.exec("SAVEPOINT call");
    try {
      const value = work();
      beforeEnd?.();
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

/** An outage is told in the store's words; one error per call, since each caller may add to its own. */
function toError(error: unknown): unknown {
  if (!isUnavailable(error)) return error;
  const words = error instanceof StoreUnavailable ? error.message : "the database cannot take the write";
  return new StoreUnavailable(words, { cause: error });
}
