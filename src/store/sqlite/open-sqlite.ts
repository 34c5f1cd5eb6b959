import { turnEnd } from "../../core/work/turn-end.ts";
import { OPENINGS } from "../meta.ts";
import { refuseWhatMoved } from "../move/move-marks.ts";
import type { Vault } from "../vault.ts";
import { createStore, type SqliteStore } from "./create-store.ts";
import { createDatabase } from "./database/database.ts";
import { type Driver, openDriver } from "./database/driver.ts";
import { BUSY_TIMEOUT_MS } from "./database/empty-wal.ts";
import { CHECKPOINT_PAGES, checkpointLongWal, WAL_SIZE_LIMIT } from "./database/long-wal.ts";
import { checkMasterKey, raiseMeta, refuseOtherKey } from "./database/meta.ts";
import { createPlaceCheck } from "./database/place-check.ts";
import { createWriteLock } from "./database/write-lock.ts";
import { removeLoosePieces } from "./messages/content-pieces.ts";
import { type MigrationOptions, migrateOlder } from "./migrate-older.ts";
import type { SharedWriting } from "./open-beside.ts";
import { endDeadLeases } from "./queue/stage.ts";
import { createAccountCache } from "./records/account-cache.ts";
import { endDeadWebhookLeases } from "./webhooks/webhook-stage.ts";

export interface SqliteOptions extends MigrationOptions {
  /** The database file, or `:memory:`. */
  readonly path: string;
  readonly vault: Vault;
  /** For tests and benchmarks: delays a commit by taking its time, or fails it by throwing. */
  readonly faults?: { readonly beforeCommit?: () => void };
  /** Present if other threads write to the database too, by `openBeside`. */
  readonly shared?: SharedWriting;
  /** See `GroupCommitOptions`. */
  readonly hasOwnThread?: boolean;
  /** See `checkpointLongWal`. */
  readonly checkpointThread?: URL | undefined;
  /** See `StoreParts`. */
  readonly now?: (() => number) | undefined;
}

/**
 * Opens, migrates and checks the database. Throws if another process has locked it, or if it belongs to another version or master
 * key, with which this cannot work.
 */
export async function openSqlite(options: SqliteOptions): Promise<SqliteStore> {
  const driver = openDriver(options.path);
  try {
    return await openOn(driver, options, options.path);
  } catch (error) {
    driver.close();
    throw error;
  }
}

/** Like `openSqlite`, on a connection that the caller has opened. Without `path`, a moved file and a long log go unnoticed. */
export async function openOn(
  driver: Driver,
  options: Omit<SqliteOptions, "path">,
  path = ":memory:",
): Promise<SqliteStore> {
  configure(driver);
  const refuse = () => refuseToMigrate(driver, options.vault);
  await migrateOlder(driver, { ...options, path, refuse });
  refuseWhatMoved(driver);
  const checkPlace = createPlaceCheck(path);
  const beforeCommit = () => {
    checkPlace();
    options.faults?.beforeCommit?.();
  };
  const db = createDatabase({
    driver,
    schedule: turnEnd.last,
    beforeCommit,
    hasOwnThread: options.hasOwnThread,
    ...(options.shared && { lock: createWriteLock(options.shared.memory) }),
  });
  await checkMasterKey(db, options.vault);
  await removeLoosePieces(db);
  const noteOpening = () => raiseMeta(db, OPENINGS);
  await Promise.all([endDeadLeases(db), endDeadWebhookLeases(db), db.write(noteOpening)]);
  const { vault, shared, now } = options;
  const share = shared && { share: shared.share };
  const store = createStore(db, { vault, accounts: createAccountCache(db), now, ...share });
  return {
    ...store,
    close: checkpointLongWal(db, { path, program: options.checkpointThread }, store.close),
  };
}

/** Checks what must not be migrated. A database that is refused keeps its schema, so that the older program still starts on it. */
function refuseToMigrate(driver: Driver, vault: Vault): void {
  refuseWhatMoved(driver);
  refuseOtherKey(driver, vault);
}

/** FULL syncs the log at every commit, so that a 202 is on disk. FAST overwrites deleted rows in pages that are written anyway. */
export function configure(driver: Driver): void {
  for (const pragma of [
    `busy_timeout = ${BUSY_TIMEOUT_MS}`,
    "journal_mode = WAL",
    "synchronous = FULL",
    "foreign_keys = ON",
    "cache_size = -65536",
    "temp_store = MEMORY",
    "secure_delete = FAST",
    `wal_autocheckpoint = ${CHECKPOINT_PAGES}`,
    `journal_size_limit = ${WAL_SIZE_LIMIT}`,
  ]) {
    driver.exec(`PRAGMA ${pragma}`);
  }
}
