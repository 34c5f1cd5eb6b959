/** The stories about something that only one store has; all others run on both. */
export const ONE_STORE: Readonly<Record<string, string>> = {
  "alarm-disk-low.test.ts": "the disk of the SQLite file; PostgreSQL's is the database server's to watch",
  "answer-after-takeover.test.ts": "processes on one database; on SQLite there is one",
  "backup-postgres.test.ts": "a backup through PostgreSQL's own programs; SQLite's is backup.test.ts",
  "backup-of-odd-folders.test.ts": "the files of a data folder; PostgreSQL looks after its own",
  "backup.test.ts": "a copy of the SQLite file; PostgreSQL's is backup-postgres.test.ts",
  "bounce-fuzz.test.ts": "reads mails and stores nothing",
  "dead-process.test.ts": "processes on one database; on SQLite there is one",
  "changes-at-two-processes.test.ts": "processes on one database; on SQLite there is one",
  "clocks-differ.test.ts": "processes on one database; on SQLite there is one",
  "command-cut-off.test.ts": "the commands that work on one store or the other: each is named in the test",
  "damaged-log.test.ts": "the write-ahead log of the SQLite file; PostgreSQL looks after its own",
  "data-folder-moved.test.ts": "the files of an SQLite database; PostgreSQL looks after its own",
  "disk-full-commands.test.ts":
    "the disk of the SQLite file; what a PostgreSQL that cannot write means is postgres-away.test.ts",
  "disk-full-while-sending.test.ts":
    "the disk of the SQLite file; what a PostgreSQL that cannot write means is postgres-away.test.ts",
  "disk-full.test.ts":
    "the disk of the SQLite file; what a PostgreSQL that cannot write means is postgres-away.test.ts",
  "event-commits-late-postgres.test.ts":
    "two transactions of PostgreSQL side by side; SQLite's write lock is event-commits-late.test.ts",
  "event-commits-late.test.ts":
    "the write lock of the SQLite file; PostgreSQL's is event-commits-late-postgres.test.ts",
  "failover-with-loss.test.ts": "a PostgreSQL and its standby, as in failover.test.ts",
  "failover.test.ts": "a PostgreSQL and its standby; SQLite has none",
  "feed-after-recovery.test.ts":
    "an earlier moment that PostgreSQL has gone back to; what SQLite is restored from is feed-after-restore.test.ts",
  "killed-with-webhooks.test.ts": "leases that others end; on SQLite a start ends all that there are",
  "listeners-forward.test.ts": "threads in front of one SQLite file, as in listeners.test.ts",
  "listeners-start.test.ts": "threads in front of one SQLite file, as in listeners.test.ts",
  "listeners.test.ts":
    "threads in front of one SQLite file; PostgreSQL's processes on one port are share-port.test.ts",
  "migrate-to.test.ts": "a move from SQLite into PostgreSQL: both at once",
  "move-large-mail.test.ts": "a move from SQLite into PostgreSQL: both at once",
  "move-database-away.test.ts": "a move from SQLite into PostgreSQL: both at once",
  "operators-paths.test.ts": "the paths of requests, which no store sees",
  "postgres-away.test.ts": "a server that is away; what SQLite has instead is disk-full.test.ts",
  "postgres-restart.test.ts": "a server that restarts; SQLite has none",
  "postgres-settings.test.ts": "what is set for a role or a database; SQLite has neither",
  "postgres-start.test.ts": "what only a server brings into a start; the rest is first-start.test.ts",
  "restarted-on-postgres.test.ts": "a predecessor that others might take for alive; SQLite has one process",
  "restore-undoes.test.ts":
    "a backup of a data folder; PostgreSQL's are restored in restore-postgres.test.ts",
  "restore-postgres.test.ts":
    "databases and schemas that a backup is restored into; SQLite's is backup.test.ts",
  "rolling-upgrade.test.ts": "processes of two versions on one database; SQLite has one process",
  "rotate-key-postgres.test.ts":
    "the key in the environment of many processes; SQLite's is rotate-key.test.ts",
  "rotate-key.test.ts": "the key file of a data folder; PostgreSQL's is rotate-key-postgres.test.ts",
  "second-process.test.ts":
    "the lock of a data folder; several processes on PostgreSQL are two-processes.test.ts",
  "share-port.test.ts": "processes on one port; SQLite has threads for it: listeners.test.ts",
  "signal-before-ready.test.ts": "a start that the database keeps waiting at its end; SQLite answers at once",
  "slot-moves.test.ts": "processes on one database; on SQLite there is one",
  "slow-disk.test.ts": "the thread that writes to SQLite; every commit of PostgreSQL is another server's",
  "standby-left-behind.test.ts": "a PostgreSQL and its standby; SQLite has none",
  "start-fails-late.test.ts": "what other processes would wait for; on SQLite there is one",
  "two-processes.test.ts": "processes on one database; on SQLite second-process.test.ts refuses them",
  "upgraded-database.test.ts": "the file of an older version; PostgreSQL's is rolling-upgrade.test.ts",
  "webhook-disk-full.test.ts":
    "the disk of the SQLite file; what a PostgreSQL that cannot write means is postgres-away.test.ts",
};
