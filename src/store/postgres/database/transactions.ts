import type { Clock } from "../../../core/clock.ts";
import { outage } from "../../outage.ts";
import { StoreUnavailable } from "../../store.ts";
import type { Connection, Driver, Session, SqlValue } from "./driver.ts";
import { beginAwaitable, type IsStored, type LostCommit, resolveLostCommit } from "./lost-commit.ts";
import { isCollision, isForbidden } from "./sql-errors.ts";

/** What every use case is built on: single statements and transactions. */
export interface Database extends Session {
  /**
   * Runs `work` in a transaction, and resolves when that is durable. After a deadlock, or a migration meanwhile, it
   * runs again, so it must leave no trace outside the database.
   *
   * @param isStored asked if the commit is not answered: whether the transaction that returned `value` was committed
   * @throws OutcomeUnknown if the commit was not answered and it cannot be found out
   */
  transaction<T>(work: (session: Session) => Promise<T>, isStored?: IsStored<T>): Promise<T>;
}

/** A database that can be closed: what was admitted before ends first, what comes later is rejected. */
export interface ClosableDatabase {
  /** Admits each call by itself. */
  readonly database: Database;
  /** Admits work of several calls on `within`, which it may finish while the database is being closed. */
  admit<T>(start: () => Promise<T>): Promise<T>;
  /** For calls of admitted work. */
  readonly within: Database;
  /** Admits no more; resolves when all that was admitted has ended. */
  close(): Promise<void>;
}

const MAX_TRIES = 5;

export function openClosable(driver: Driver, clock: Clock): ClosableDatabase {
  const underWay = new Set<Promise<unknown>>();
  let isClosed = false;
  const within: Database = {
    query: (sql, values) => driver.query<never>(sql, values).catch(throwForbidden),
    async transaction(work, isStored) {
      const { value, lost } = await runWithRetries(driver, work).catch(throwForbidden);
      if (lost)
        await resolveLostCommit({ driver, clock }, lost, isStored && ((session) => isStored(session, value)));
      return value;
    },
  };
  const admit = <T>(start: () => Promise<T>): Promise<T> => {
    if (isClosed) return Promise.reject(new StoreUnavailable("the store is closed"));
    const task = start();
    const ended = task.catch(() => undefined).then(() => void underWay.delete(ended));
    underWay.add(ended);
    return task;
  };
  return {
    within,
    admit,
    database: {
      query: (sql, values) => admit(() => within.query(sql, values)),
      transaction: (work, isStored) => admit(() => within.transaction(work, isStored)),
    },
    async close() {
      isClosed = true;
      while (underWay.size > 0) await Promise.all(underWay);
      await driver.close();
    },
  };
}

/** Missing rights are given back one day, and what a provider said must last until then. */
function throwForbidden(error: unknown): never {
  throw isForbidden(error) ? outage("the database refuses", error) : error;
}

interface Ran<T> {
  readonly value: T;
  /** Present if the commit was not answered, or not as durable. */
  readonly lost?: LostCommit;
}

type Work<T> = (session: Session) => Promise<T>;

async function runWithRetries<T>(driver: Driver, work: Work<T>): Promise<Ran<T>> {
  for (let tries = 1; ; tries++) {
    try {
      return await driver.hold((connection) => runOnce(connection, work));
    } catch (error) {
      if (!isCollision(error)) throw error;
      if (tries === MAX_TRIES) throw new StoreUnavailable("others stood in the way", { cause: error });
    }
  }
}

async function runOnce<T>(connection: Connection, work: Work<T>): Promise<Ran<T>> {
  const { session, backend } = beginWithFirstStatement(connection);
  try {
    const value = await work(session);
    const begun = await backend();
    if (begun === undefined) return { value };
    const cause = await commit(connection);
    return cause === undefined ? { value } : { value, lost: { backend: begun, cause } };
  } catch (error) {
    // Where the connection is lost the server rolls back by itself, and one that has fallen silent would be waited for again.
    if (!connection.isLost()) await connection.exec("ROLLBACK").catch(() => undefined);
    throw error;
  }
}

interface Beginning {
  readonly session: Session;
  /** The transaction's server process; `undefined` if there was no statement, and so no transaction. */
  backend(): Promise<number | undefined>;
}

/** Begins the transaction with its first statement: both are sent together, which saves a round trip. */
function beginWithFirstStatement(connection: Connection): Beginning {
  let begun: Promise<number> | undefined;
  const first = async <Row>(sql: string, values?: readonly SqlValue[]): Promise<readonly Row[]> => {
    const [beginning, rows] = connection.together(
      () => [beginAwaitable(connection), connection.query<Row>(sql, values)] as const,
    );
    begun = beginning;
    // If BEGIN failed, its error says why the statement did too.
    const [, result] = await Promise.allSettled([beginning, rows]);
    await beginning;
    if (result.status === "rejected") throw result.reason;
    return result.value;
  };
  return {
    session: {
      query: (sql, values) => (begun ? connection.query(sql, values) : first(sql, values)),
    },
    backend: async () => begun,
  };
}

/** Commits. Returns what is in the way of calling it durable: the connection was lost before the answer, or it came with a warning. */
async function commit(connection: Connection): Promise<unknown> {
  try {
    return await connection.commit();
  } catch (error) {
    if (connection.isLost()) return error ?? "lost";
    throw error;
  }
}
