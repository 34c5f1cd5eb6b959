import { turnEnd } from "../../core/work/turn-end.ts";
import type { Store } from "../store.ts";
import type { Vault } from "../vault.ts";
import { createStore } from "./create-store.ts";
import { createDatabase } from "./database/database.ts";
import { openDriver } from "./database/driver.ts";
import { checkpointLongWal } from "./database/long-wal.ts";
import { createPlaceCheck } from "./database/place-check.ts";
import type { NumberShare } from "./database/row-numbers.ts";
import { createWriteLock } from "./database/write-lock.ts";
import { configure } from "./open-sqlite.ts";
import { createAccountCache } from "./records/account-cache.ts";

/** What the threads of one process share that write to the same database. */
export interface SharedWriting {
  /** From `createLockMemory`. */
  readonly memory: SharedArrayBuffer;
  readonly share: NumberShare;
}

export interface StoreBeside {
  readonly store: Pick<
    Store,
    "intake" | "messages" | "records" | "suppressions" | "queue" | "access" | "close"
  >;
  /** Makes accounts and settings be read again, since they may have changed. */
  forget(): void;
}

/**
 * Opens another connection, on another thread, to a database that this process has open: for accepting and reading. It does not
 * notice what other threads change, so `forget` has to be called now and then.
 */
export function openBeside(options: {
  readonly path: string;
  readonly vault: Vault;
  readonly shared: SharedWriting;
  /** See `checkpointLongWal`. */
  readonly checkpointThread?: URL | undefined;
  /** The time of day. */
  readonly now: () => number;
}): StoreBeside {
  const { path, vault, checkpointThread: program, now } = options;
  const { memory, share } = options.shared;
  const driver = openDriver(path);
  configure(driver);
  const beforeCommit = createPlaceCheck(path);
  // Before anything is committed here: files that are replaced before the first write must not be mistaken for those opened now.
  beforeCommit();
  const db = createDatabase({ driver, schedule: turnEnd.last, lock: createWriteLock(memory), beforeCommit });
  const accounts = createAccountCache(db);
  const store = createStore(db, { vault, accounts, share, now });
  const close = checkpointLongWal(db, { path, program }, store.close);
  return { store: { ...store, close }, forget: accounts.forget };
}
