import { StoreUnavailable } from "../../store.ts";
import type { Vault } from "../../vault.ts";
import type { Session } from "../database/driver.ts";
import type { Database } from "../database/transactions.ts";

/**
 * Transactions that may write what is sealed. While one lasts the database's master key stays what it is; where it has
 * been changed nothing is written, since nobody could open it.
 */
export function underKey(db: Database, vault: Vault): Database {
  return {
    query: db.query,
    transaction: (work, isStored) =>
      db.transaction(async (session) => {
        await holdKey(session, vault);
        return work(session);
      }, isStored),
  };
}

export const KEY_CHANGED = "the master key of the database has been changed: start again with the new one";

/** The same for what follows in a transaction. */
export async function holdKey(session: Session, vault: Vault): Promise<void> {
  const held = await session.query(HELD, [vault.checkValue]);
  if (held.length === 0) throw new StoreUnavailable(KEY_CHANGED);
}

/** A rotation writes this row first and last. */
const HELD = "SELECT 1 FROM meta WHERE name = 'master_key_check' AND value = $1 FOR SHARE";
