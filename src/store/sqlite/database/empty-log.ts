import type { Database } from "./database.ts";

/** How long a statement waits for other connections, milliseconds. */
export const BUSY_TIMEOUT_MS = 2_000;

/**
 * Empties the write-ahead log, which holds old versions of pages; outside a transaction. False, without waiting, where
 * another connection is reading or writing.
 */
export function emptyLog(db: Database): boolean {
  const wait = (ms: number) => db.prepare(`PRAGMA busy_timeout = ${ms}`).get();
  wait(0);
  try {
    return db.prepare<{ busy: number }>("PRAGMA wal_checkpoint(TRUNCATE)").get()?.busy === 0;
  } finally {
    wait(BUSY_TIMEOUT_MS);
  }
}
