/** The stories whose subject exists on one store only: every other is told on both. */
export const ONE_STORE: Readonly<Record<string, string>> = {
  "backup-postgres.test.ts": "a backup through PostgreSQL's own programs; SQLite's is backup.test.ts",
  "backup.test.ts": "a copy of the SQLite file; PostgreSQL's is backup-postgres.test.ts",
  "bounce-fuzz.test.ts": "reads mails and stores nothing",
  "disk-full-while-sending.test.ts":
    "the disk of the SQLite file; what a PostgreSQL that cannot write means is postgres-away.test.ts",
  "disk-full.test.ts":
    "the disk of the SQLite file; what a PostgreSQL that cannot write means is postgres-away.test.ts",
  "event-commits-late-postgres.test.ts":
    "two transactions of PostgreSQL side by side; SQLite's write lock is event-commits-late.test.ts",
  "event-commits-late.test.ts":
    "the write lock of the SQLite file; PostgreSQL's is event-commits-late-postgres.test.ts",
  "failover.test.ts": "a PostgreSQL and its standby; SQLite has none",
  "listeners.test.ts":
    "threads in front of one SQLite file; PostgreSQL's processes on one port are share-port.test.ts",
};
