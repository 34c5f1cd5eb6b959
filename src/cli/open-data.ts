import { randomBytes } from "node:crypto";
import type { Logger } from "pino";
import type { Clock } from "../core/clock.ts";
import type { MigrationStep } from "../store/on-migration.ts";
import { openPostgresStore, openSqliteStore } from "../store/open-store.ts";
import type { StoreDrivers } from "../store/postgres/open-postgres.ts";
import { SLOW_COMMIT_MS } from "../store/sqlite/slow-disk.ts";
import type { Store } from "../store/store.ts";
import type { Config } from "./config.ts";
import { LOST_COMMITS, logIn } from "./data-folder/tell-of-lost-commits.ts";
import { MIGRATING } from "./tell-of-migration.ts";

export interface DataOptions {
  readonly config: Config;
  readonly clock: Clock;
  readonly log: Logger;
  readonly masterKey: string;
  /** For SQLite if other threads write too: the memory of the lock by which they take turns; see `createLockMemory`. */
  readonly memory: SharedArrayBuffer;
  /** Called when the thread that writes to SQLite has ended by itself. */
  readonly onLost: (error: Error) => void;
  /** For benchmarks: `commitMs` is added to every commit. */
  readonly faults?: { readonly commitMs: number };
  /** For tests: PostgreSQL on connections that are open already, and stay so. */
  readonly drivers?: StoreDrivers;
}

/** Opens the database that the configuration names, and migrates it if it is of an earlier version. */
export function openData(options: DataOptions): Promise<Store> {
  const { databaseUrl } = options.config;
  return databaseUrl === undefined ? openFolder(options) : openServer(options, databaseUrl);
}

function openFolder({ config, clock, log, masterKey, memory, onLost, faults }: DataOptions): Promise<Store> {
  const { dataFolder, storeThread, listeners } = config;
  const onSlowDisk = () => log.info({}, SLOW_DISK);
  return openSqliteStore({
    dataFolder,
    masterKey,
    randomBytes,
    ...faults,
    onMigration: tellOfMigration(log),
    onLostCommits: (commits) => log.error({ commits, file: logIn(dataFolder) }, LOST_COMMITS),
    now: clock.now,
    checkpointThread: new URL("./checkpoint-thread.ts", import.meta.url),
    migrationThread: new URL("./migration-thread.ts", import.meta.url),
    ...(storeThread !== "never" && {
      thread: {
        program: new URL("./store-thread.ts", import.meta.url),
        clock,
        onLost,
        onSlowDisk: storeThread === "always" ? undefined : onSlowDisk,
      },
    }),
    ...(listeners > 1 && { shared: { memory, share: { index: 0, of: listeners } } }),
  });
}

const SLOW_DISK = `this disk takes ${SLOW_COMMIT_MS} ms or longer per commit: a thread of its own writes to the database (--no-store-thread: no such thread)`;

function openServer({ config, clock, log, masterKey, drivers }: DataOptions, url: string): Promise<Store> {
  const { roles } = config;
  const sends = roles.has("delivery") || roles.has("webhooks");
  return openPostgresStore({
    url,
    masterKey,
    randomBytes,
    waiting: { clock, onAway: (reason) => log.warn({}, reason) },
    onKeyChanged: (words) => stopForRestart(words, log),
    onCopies: sends ? (names) => tellOfCopies(names, log) : undefined,
    onMigration: tellOfMigration(log),
    drivers,
  });
}

function tellOfMigration(log: Logger) {
  return ({ name, step, of }: MigrationStep) => log.info({ migration: name, step, of }, MIGRATING);
}

/** Stops as usual, which settles what is in flight first, but with an exit code that makes a supervisor start the service again. */
function stopForRestart(words: string, log: Logger): void {
  log.fatal({}, words);
  process.exitCode = 1;
  process.kill(process.pid, "SIGTERM");
}

function tellOfCopies(databases: readonly string[], log: Logger): void {
  if (databases.length === 0) log.info({}, "no copy of this database is at work any more");
  else
    log.warn(
      { databases },
      "a copy of this database is at work too, and sends the same messages: stop one of them",
    );
}
