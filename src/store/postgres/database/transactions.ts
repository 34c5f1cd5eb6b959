import type { Clock } from "../../../core/clock.ts";
import { StoreUnavailable } from "../../store.ts";
import { type Connection, type Driver, isCollision, type Session, type SqlValue } from "./driver.ts";
import { beginKnown, findOut, type IsStored, type LostCommit } from "./lost-commit.ts";

/** What every use case is built on. */
export interface Database extends Session {
  /**
   * Runs `work` in a transaction, and resolves when that is durable. Where another transaction stood in the way it runs
   * again: it must leave no trace outside the database before it has resolved.
   *
   * @param isStored tells, should the commit not be answered, whether the transaction that came to `value` happened
   * @throws OutcomeUnknown where the commit was not answered and that cannot be found out
   */
  transaction<T>(work: (session: Session) => Promise<T>, isStored?: IsStored<T>): Promise<T>;
}

/** The same behind a door that can be closed. */
export interface Doors {
  readonly database: Database;
  /** For what consists of several calls: it goes on to its end on `within`, also while the door is being closed. */
  admit<T>(start: () => Promise<T>): Promise<T>;
  readonly within: Database;
  /** Admits no more; resolves when all that was admitted has ended. */
  close(): Promise<void>;
}

const MAX_TRIES = 5;

export function openDoors(driver: Driver, clock: Clock): Doors {
  const underWay = new Set<Promise<unknown>>();
  let isClosed = false;
  const within: Database = {
    query: driver.query,
    async transaction(work, isStored) {
      const { value, lost } = await runUntilAlone(driver, work);
      if (lost) await findOut({ driver, clock }, lost, isStored && ((session) => isStored(session, value)));
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

interface Ran<T> {
  readonly value: T;
  /** Present: the commit was not answered. */
  readonly lost?: LostCommit;
}

type Work<T> = (session: Session) => Promise<T>;

async function runUntilAlone<T>(driver: Driver, work: Work<T>): Promise<Ran<T>> {
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
  const { session, backend } = beginWithFirst(connection);
  try {
    const value = await work(session);
    const begun = await backend();
    if (begun === undefined) return { value };
    const cause = await commit(connection);
    return cause === undefined ? { value } : { value, lost: { backend: begun, cause } };
  } catch (error) {
    // Where the connection is lost the server rolls back by itself.
    await connection.exec("ROLLBACK").catch(() => undefined);
    throw error;
  }
}

interface Beginning {
  readonly session: Session;
  /** Resolves with the server process of the transaction; `undefined`: there was no statement, and none has begun. */
  backend(): Promise<number | undefined>;
}

/** The transaction begins with the first statement, and both go to the server together. */
function beginWithFirst(connection: Connection): Beginning {
  let begun: Promise<number> | undefined;
  const first = async <Row>(sql: string, values?: readonly SqlValue[]): Promise<readonly Row[]> => {
    const [beginning, rows] = connection.together(
      () => [beginKnown(connection), connection.query<Row>(sql, values)] as const,
    );
    begun = beginning;
    // What failed at the beginning says why the statement did.
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

/** What kept the answer away; `undefined`: it is committed. */
async function commit(connection: Connection): Promise<unknown> {
  try {
    await connection.exec("COMMIT");
    return undefined;
  } catch (error) {
    if (connection.isLost()) return error ?? "lost";
    throw error;
  }
}
