import { join } from "node:path";
import { lockFolder } from "./lock.ts";
import { isOutage } from "./sqlite/driver.ts";
import { openSqlite } from "./sqlite/open-sqlite.ts";
import type { Store } from "./store.ts";
import type { Vault } from "./vault.ts";

export interface StoreOptions {
  /** Exists already. */
  readonly dataFolder: string;
  readonly vault: Vault;
  /** For tests and benchmarks; see `SqliteOptions`. */
  readonly faults?: { readonly beforeCommit?: () => void };
}

/** Opens the store of a data folder, for this process alone; `close` lets go of it. */
export async function openStore({ dataFolder, ...options }: StoreOptions): Promise<Store> {
  const lock = lockFolder(dataFolder);
  const path = join(dataFolder, "postrider.db");
  try {
    const store = await openSqlite({ path, ...options });
    return {
      ...store,
      async close() {
        await store.close();
        lock.release();
      },
    };
  } catch (error) {
    lock.release();
    throw isOutage(error) ? new Error(`${path} cannot be opened: ${words(error)}`, { cause: error }) : error;
  }
}

function words(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
