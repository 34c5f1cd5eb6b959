import type { Store } from "../store.ts";
import type { Vault } from "../vault.ts";
import { createStore } from "./create-store.ts";
import { createDatabase } from "./database/database.ts";
import { openDriver } from "./database/driver.ts";
import { createAccountBook } from "./records/account-book.ts";

export interface ReadingStore {
  /** Its reads see every commit that had ended at the last `renew`, or at the start of this turn of the event loop; its writes all fail. */
  readonly store: Store;
  renew(): void;
  /** Accounts or settings have changed: what is remembered of them is read again. */
  forget(): void;
}

/** A second connection to a database that another one writes: no read waits for a commit. */
export function openReading(path: string, vault: Vault): ReadingStore {
  const driver = openDriver(path, { isReadOnly: true });
  for (const pragma of ["busy_timeout = 2000", "query_only = ON", "cache_size = -16384"]) {
    driver.exec(`PRAGMA ${pragma}`);
  }
  const db = createDatabase({ driver, schedule: setImmediate });
  const accounts = createAccountBook(db);
  return { store: createStore(db, { vault, accounts }), renew: db.renew, forget: accounts.forget };
}
