import { join } from "node:path";
import type { RandomBytes } from "../core/uuid.ts";
import { DATABASE, lockFolder } from "./lock.ts";
import type { OnMigration } from "./on-migration.ts";
import { createCopyWatch, type OnCopies } from "./postgres/connections/copy-watch.ts";
import { hearOthers } from "./postgres/connections/hear-others.ts";
import { openWhenThere, type Waiting } from "./postgres/connections/open-when-there.ts";
import type { StoreDrivers } from "./postgres/open-postgres.ts";
import { isOutage } from "./sqlite/database/driver.ts";
import { slowCommits } from "./sqlite/database/slow-commits.ts";
import { openBeside, type SharedWriting, type StoreBeside } from "./sqlite/open-beside.ts";
import { openSqlite } from "./sqlite/open-sqlite.ts";
import { isSlowDisk } from "./sqlite/slow-disk.ts";
import { openThreaded, type ThreadedOptions } from "./sqlite/thread/open-threaded.ts";
import { type Store, StoreUnavailable } from "./store.ts";
import { createVault } from "./vault.ts";

export interface StoreOptions {
  /** The folder must exist. */
  readonly dataFolder: string;
  /** Seals secrets at rest; see `createVault`. */
  readonly masterKey: string;
  readonly randomBytes: RandomBytes;
  /** Starts a thread that writes; absent: this thread writes. */
  readonly thread?: StoreThreadOptions;
  /** If other threads write too, by `openStoreBeside`. Not together with `thread`. */
  readonly shared?: SharedWriting;
  /** For benchmarks: how many milliseconds longer every commit takes. */
  readonly commitMs?: number;
  /** The program of the checkpoint thread; see `checkpointLongWal`. With `thread`, that thread has its own. */
  readonly checkpointThread?: URL;
  /** The time of day. With `thread`, that thread has its own. */
  readonly now: () => number;
  /** See `SqliteOptions`. Not with `thread`, which migrates itself. */
  readonly migrationThread?: URL;
  readonly onMigration?: OnMigration;
  /** Called at the opening with `FolderLock.lostCommits`, if there are any. */
  readonly onLostCommits?: (count: number) => void;
}

export interface StoreThreadOptions extends Pick<ThreadedOptions, "program" | "clock" | "onLost"> {
  /** Called if the disk is slow: only then does the thread start. Absent: it starts on every disk. */
  readonly onSlowDisk?: (() => void) | undefined;
}

/** Opens the store of a data folder for another thread of the process that has it open already. */
export function openStoreBeside(
  options: Pick<StoreOptions, "dataFolder" | "masterKey" | "randomBytes" | "checkpointThread" | "now"> &
    Required<Pick<StoreOptions, "shared">>,
): StoreBeside {
  const path = join(options.dataFolder, DATABASE);
  const { shared, checkpointThread, now } = options;
  return openBeside({ path, vault: createVault(options), shared, checkpointThread, now });
}

const OWN_FOLDER = ", or give this one a folder of its own (POSTRIDER_DATA)";

/** Opens the store of a data folder, and locks the folder for this process until `close`. */
export async function openSqliteStore(options: StoreOptions): Promise<Store> {
  const lock = lockFolder(options.dataFolder, OWN_FOLDER);
  const path = join(options.dataFolder, DATABASE);
  try {
    if (lock.lostCommits > 0) options.onLostCommits?.(lock.lostCommits);
    const store = await openAt(path, options);
    return {
      ...store,
      async close() {
        await store.close();
        lock.release();
      },
    };
  } catch (error) {
    lock.release();
    throw isFault(error) ? new Error(`${path} cannot be opened: ${wordsOf(error)}`, { cause: error }) : error;
  }
}

/** Opens the store of a PostgreSQL database, which other processes may have open too. */
export async function openPostgresStore({
  url,
  waiting,
  onKeyChanged,
  onCopies,
  onMigration,
  drivers,
  ...vault
}: Pick<StoreOptions, "masterKey" | "randomBytes"> & {
  readonly url: string;
  readonly waiting: Waiting;
  /** Another process has rotated the master key; with a message for the operator. */
  readonly onKeyChanged: (words: string) => void;
  /** For a process that sends: others that send work on a copy of the database; see `CopyWatch`. */
  readonly onCopies: OnCopies | undefined;
  readonly onMigration: OnMigration;
  /** For tests; see `PostgresOptions`. */
  readonly drivers: StoreDrivers | undefined;
}): Promise<Store> {
  const options = { url, vault: createVault(vault), onKeyChanged, onMigration, drivers };
  const store = await openWhenThere(options, waiting);
  const copies = onCopies && createCopyWatch(onCopies);
  return hearOthers(store, { url, clock: waiting.clock, ...(copies && { copies }) });
}

function openAt(
  path: string,
  {
    dataFolder,
    masterKey,
    randomBytes,
    thread,
    shared,
    commitMs,
    onMigration,
    now,
    ...threads
  }: StoreOptions,
): Promise<Store> {
  const vault = createVault({ masterKey, randomBytes });
  if (!thread || !isWanted(thread, dataFolder, commitMs)) {
    const { checkpointThread, migrationThread } = threads;
    const options = {
      ...slowCommits(commitMs),
      ...(shared && { shared }),
      checkpointThread,
      migrationThread,
      now,
    };
    return openSqlite({ path, vault, ...options, onMigration });
  }
  const setup = { path, masterKey, ...(commitMs !== undefined && { commitMs }) };
  return openThreaded({ ...thread, setup, vault, onMigration });
}

function isWanted(
  { clock, onSlowDisk }: StoreThreadOptions,
  folder: string,
  commitMs: number | undefined,
): boolean {
  if (!onSlowDisk) return true;
  const isSlow = isSlowDisk({ folder, clock, beforeSync: slowCommits(commitMs).faults?.beforeCommit });
  if (isSlow) onSlowDisk();
  return isSlow;
}

/** Whether the machine is at fault, not the content of the database. */
function isFault(error: unknown): error is Error {
  return error instanceof StoreUnavailable || (error instanceof Error && isOutage(error));
}

/** The message of the first cause, so that a full disk is reported as such. */
export function wordsOf(error: Error): string {
  const { message, cause } = error;
  return error instanceof StoreUnavailable && cause instanceof Error ? wordsOf(cause) : message;
}
