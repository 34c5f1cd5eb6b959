import { StoreUnavailable } from "../store.ts";
import { type Connection, type Driver, isCollision, type Session } from "./driver.ts";

/** What every use case is built on. */
export interface Database extends Session {
  /**
   * Runs `work` in a transaction, and resolves when that is durable. Where another transaction stood in the way it runs
   * again: it must leave no trace outside the database before it has resolved.
   */
  transaction<T>(work: (session: Session) => Promise<T>): Promise<T>;
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

export function openDoors(driver: Driver): Doors {
  const underWay = new Set<Promise<unknown>>();
  let isClosed = false;
  const within: Database = {
    query: driver.query,
    transaction: (work) => runUntilAlone(driver, work),
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
      transaction: (work) => admit(() => within.transaction(work)),
    },
    async close() {
      isClosed = true;
      while (underWay.size > 0) await Promise.all(underWay);
      await driver.close();
    },
  };
}

async function runUntilAlone<T>(driver: Driver, work: (session: Session) => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await driver.hold((connection) => runOnce(connection, work));
    } catch (error) {
      if (!isCollision(error)) throw error;
      if (tries === MAX_TRIES) throw new StoreUnavailable("others stood in the way", { cause: error });
    }
  }
}

async function runOnce<T>(connection: Connection, work: (session: Session) => Promise<T>): Promise<T> {
  await connection.exec("BEGIN");
  try {
    const value = await work(connection);
    await connection.exec("COMMIT");
    return value;
  } catch (error) {
    // Where the connection is lost the server rolls back by itself.
    await connection.exec("ROLLBACK").catch(() => undefined);
    throw error;
  }
}
