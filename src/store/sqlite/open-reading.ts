import type { Store } from "../store.ts";
import type { Vault } from "../vault.ts";
import { createStore } from "./create-store.ts";
import { createDatabase } from "./database/database.ts";
import { openDriver } from "./database/driver.ts";
import { BUSY_TIMEOUT_MS } from "./database/empty-wal.ts";
import { createAccountCache } from "./records/account-cache.ts";

export interface ReadingStore {
  /** Reads see every commit up to the last `renew`, or the start of this turn of the event loop. Writes all fail. */
  readonly store: Store;
  renew(): void;
  /** Makes accounts and settings be read again, since they have changed. */
  forget(): void;
}

/** Opens a second connection to a database that another connection writes, so that no read waits for a commit. */
export function openReading(path: string, vault: Vault): ReadingStore {
  const driver = openDriver(path, { isReadOnly: true });
  for (const pragma of [`busy_timeout = ${BUSY_TIMEOUT_MS}`, "query_only = ON", "cache_size = -16384"]) {
    driver.exec(`PRAGMA ${pragma}`);
  }
  const db = createDatabase({ driver, schedule: setImmediate });
  const accounts = createAccountCache(db);
  return { store: createStore(db, { vault, accounts }), renew: db.renew, forget: accounts.forget };
}
