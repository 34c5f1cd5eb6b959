import type { Connection, Driver } from "./driver.ts";
import { LOCKS } from "./lock-numbers.ts";
import { NO_TRANSACTION_TIMEOUT } from "./no-transaction-timeout.ts";

/**
 * Runs `work` while no other process fills this schema from a backup or from SQLite. Holds a connection for it, whose
 * transaction has no snapshot and no time limit. `work` calls `checkAlone` between its steps, which throws if that
 * connection was lost: then others are no longer kept out. Throws, in words for the operator, if another process is filling it.
 */
export function fillAlone<T>(
  driver: Pick<Driver, "hold">,
  work: (checkAlone: () => Promise<void>) => Promise<T>,
): Promise<T> {
  return driver.hold(async (connection) => {
    await connection.exec(
      `BEGIN; SET LOCAL idle_in_transaction_session_timeout = 0; ${NO_TRANSACTION_TIMEOUT}`,
    );
    try {
      // PostgreSQL takes a moment to notice that a process was killed.
      for (let tried = 1; !(await take(connection)); tried++) {
        if (tried === TRIES) throw new Error(OTHERS);
        await connection.query("SELECT pg_sleep(0.2)");
      }
      return await work(() => check(connection));
    } finally {
      await connection.exec("ROLLBACK").catch(() => undefined);
    }
  });
}

const TRIES = 10;

const OTHERS =
  "another restore or move into this database is under way: wait for its end, or take another database";

/** The lock is on the schema alone: another schema of the database may be that of another service. */
async function take(connection: Connection): Promise<boolean> {
  const [row] = await connection.query<{ is_ours: boolean }>(
    `SELECT pg_try_advisory_xact_lock(${LOCKS.filling}, hashtext(coalesce(current_schema(), ''))) AS is_ours`,
  );
  return row?.is_ours === true;
}

async function check(connection: Connection): Promise<void> {
  try {
    await connection.query("SELECT 1");
  } catch (cause) {
    throw new Error(LOST, { cause });
  }
}

const LOST =
  "the connection that kept other restores and moves out of this database was lost: run the command again";
