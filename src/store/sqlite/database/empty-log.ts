import type { Database } from "./database.ts";

/** How long a statement waits for others who have the database open. */
export const BUSY_TIMEOUT_MS = 2_000;

/**
 * Takes from the write-ahead log what it remembers of pages as they were; outside a transaction. False where somebody
 * is reading or writing just then: nobody waits for it.
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
