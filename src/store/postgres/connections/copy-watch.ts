/** Notices when other processes work on a copy of the database: they would send the same messages. */
import type { PoolClient } from "pg";
import { LOCKS } from "../database/lock-numbers.ts";

/** Called with the names of the copies whenever they change; with none once nobody works on a copy any more. */
export type OnCopies = (databases: readonly string[]) => void;

export interface CopyWatch {
  /**
   * Looks for copies on the same server, and marks this database for their looks for as long as the session lasts: behind a
   * pooler, which keeps sessions, for longer than the process.
   */
  look(session: PoolClient): Promise<void>;
}

/** Copies on another server are not noticed. */
export function createCopyWatch(onCopies: OnCopies): CopyWatch {
  let known = "";
  return {
    async look(session) {
      await session.query(MARK);
      const { rows } = await session.query<{ name: string }>(COPIES);
      const names = rows.map(({ name }) => name);
      if (names.join() === known) return;
      known = names.join();
      onCopies(names);
    },
  };
}

/** The lock's number is made from the first account's id, which is the same in a copy. Without an account nothing is locked. */
const FIRST_ACCOUNT = "SELECT hashtext(id::text) AS number FROM accounts ORDER BY id LIMIT 1";

const MARK = `SELECT pg_advisory_lock_shared(${LOCKS.working}, number) FROM (${FIRST_ACCOUNT}) AS first
  WHERE NOT EXISTS (SELECT 1 FROM pg_locks
    WHERE locktype = 'advisory' AND classid = ${LOCKS.working} AND pid = pg_backend_pid())`;

/**
 * `pg_locks` shows the advisory locks of all databases to every role, with their numbers unsigned. This does not compare them with
 * a lock of our own, since behind a pooler another session than this one may hold that.
 */
const COPIES = `SELECT DISTINCT datname AS name
  FROM pg_locks JOIN pg_database ON pg_database.oid = pg_locks.database
  WHERE locktype = 'advisory' AND classid = ${LOCKS.working} AND granted AND datname <> current_database()
    AND objid = (SELECT (number::bigint & 4294967295)::oid FROM (${FIRST_ACCOUNT}) AS first)
  ORDER BY name`;
