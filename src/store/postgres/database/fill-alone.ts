import type { Driver } from "./driver.ts";
import { LOCKS } from "./lock-numbers.ts";
import { tryLock } from "./try-lock.ts";

/**
 * Runs `work` while no other process fills this database from a backup or from SQLite. Holds a connection for it, whose
 * transaction has no snapshot. Throws, in words for the operator, if another process is at it.
 */
export function fillAlone<T>(driver: Pick<Driver, "hold">, work: () => Promise<T>): Promise<T> {
  return driver.hold(async (connection) => {
    await connection.exec("BEGIN; SET LOCAL idle_in_transaction_session_timeout = 0");
    try {
      // PostgreSQL takes a moment to notice that a process was killed.
      for (let tried = 1; !(await tryLock(connection, LOCKS.filling)); tried++) {
        if (tried === TRIES) throw new Error(OTHERS);
        await connection.query("SELECT pg_sleep(0.2)");
      }
      return await work();
    } finally {
      await connection.exec("ROLLBACK").catch(() => undefined);
    }
  });
}

const TRIES = 10;

const OTHERS =
  "another restore or move into this database is under way: wait for its end, or take another database";
