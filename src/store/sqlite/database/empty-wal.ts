import type { Database } from "./database.ts";

const CHECKPOINT_EVERY = "PRAGMA wal_autocheckpoint";

/** How long a statement waits for other connections, milliseconds. */
export const BUSY_TIMEOUT_MS = 2_000;

/**
 * Empties the write-ahead log, which holds old versions of pages; outside a transaction. False, without waiting, if
 * another connection is reading or writing, or the log is long (see `checkpointLongWal`).
 */
export function emptyWal(db: Database): boolean {
  const isLong = db.prepare<{ wal_autocheckpoint: number }>(CHECKPOINT_EVERY).get()?.wal_autocheckpoint === 0;
  if (isLong) return false;
  const wait = (ms: number) => db.prepare(`PRAGMA busy_timeout = ${ms}`).get();
  wait(0);
  try {
    return db.prepare<{ busy: number }>("PRAGMA wal_checkpoint(TRUNCATE)").get()?.busy === 0;
  } finally {
    wait(BUSY_TIMEOUT_MS);
  }
}
