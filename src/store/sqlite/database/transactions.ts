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

export type Result = { readonly value: unknown } | { readonly error: unknown };

export interface Transactions {
  /** One result for each of `works`, all that succeeded in one commit. Outages fail all; other errors only their own. */
  runGroup(works: readonly Work[]): readonly Result[];
}

type Work = () => unknown;

export function createTransactions(options: TransactionOptions): Transactions {
  const { beforeEnd } = options;
  const { begin, commit, rollback } = createBrackets(options);

  /** All in one, or a throw with nothing stored. */
  const runTogether = (works: readonly Work[], run: (work: Work) => Result): readonly Result[] => {
    try {
      begin();
      const results = works.map(run);
      beforeEnd?.();
      commit();
      return results;
    } catch (error) {
      rollback();
      throw error;
    }
  };

  return {
    runGroup(works) {
      try {
        return runTogether(works, (work) => ({ value: work() }));
      } catch (error) {
        if (isUnavailable(error) || works.length === 1) return works.map(() => ({ error: toError(error) }));
      }
      try {
        return runTogether(works, (work) => runApart(options, work));
      } catch (error) {
        return works.map(() => ({ error: toError(error) }));
      }
    },
  };
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
function runApart({ driver, onRollback, beforeEnd }: TransactionOptions, work: Work): Result {
  driver.exec("SAVEPOINT call");
  try {
    const value = work();
    beforeEnd?.();
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

/** An outage is told in the store's words; one error per call, since each caller may add to its own. */
function toError(error: unknown): unknown {
  if (!isUnavailable(error)) return error;
  const words = error instanceof StoreUnavailable ? error.message : "the database cannot take the write";
  return new StoreUnavailable(words, { cause: error });
}
