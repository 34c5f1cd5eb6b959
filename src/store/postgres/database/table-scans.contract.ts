/** For tests: which tables a use of the store has read, and how. */

import { until } from "../../../../test/until.ts";
import type { Store } from "../../store.ts";
import { openOther } from "../postgres-world.contract.ts";
import type { Session } from "./driver.ts";

interface Scans {
  readonly name: string;
  readonly whole: number;
  readonly indexed: number;
}

/** Of each table that is read while `run` has the database to itself. */
export async function scansOf(session: Session, url: string, run: (store: Store) => Promise<void>) {
  await forgetEarlier(session);
  const [start] = await session.query<{ now: string }>("SELECT now()::text AS now");
  const store = (await openOther(url)) as unknown as Store;
  await run(store);
  // What a connection has read is counted when it is gone.
  await store.close();
  await until(
    () => session.query(LATER, [start?.now ?? ""]),
    ({ length }) => length === 0,
  );
  return session.query<Scans>(SCANS);
}

/**
 * Forgets what was read so far. Ends other sessions and waits until they are gone, and counts at once what this one has read: otherwise
 * either may be counted in the middle of the run.
 */
export async function forgetEarlier(session: Session): Promise<void> {
  await session.query(`SELECT pg_terminate_backend(pid) ${OTHERS}`);
  await until(
    () => session.query(`SELECT 1 ${OTHERS}`),
    ({ length }) => length === 0,
  );
  await session.query("SELECT pg_stat_force_next_flush()");
  await session.query("SELECT pg_stat_reset()");
}

const OTHERS = `FROM pg_stat_activity
  WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'`;

const LATER = `SELECT 1 FROM pg_stat_activity
  WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_start > $1::text::timestamptz`;

const SCANS = `SELECT relname::text AS name, seq_scan AS whole, coalesce(idx_scan, 0) AS indexed
  FROM pg_stat_user_tables WHERE seq_scan > 0 OR idx_scan > 0 ORDER BY relname`;
