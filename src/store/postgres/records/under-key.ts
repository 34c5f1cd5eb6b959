import { StoreUnavailable } from "../../store.ts";
import type { Vault } from "../../vault.ts";
import type { Session } from "../database/driver.ts";
import type { Database, Work } from "../database/transactions.ts";

/**
 * For transactions that may write sealed values. The master key cannot be rotated during one. If it has been rotated before, they
 * throw `StoreUnavailable` and write nothing, since nobody could open what they seal.
 */
export function underKey(db: Database, vault: Vault): Database {
  const held =
    <T>(work: Work<T>): Work<T> =>
    async (session) => {
      await holdKey(session, vault);
      return work(session);
    };
  return {
    query: db.query,
    transaction: (work, isStored) => db.transaction(held(work), isStored),
    prepared: (prepare, isStored) => db.prepared(async () => held(await prepare()), isStored),
    onOtherServer: db.onOtherServer,
  };
}

export const KEY_CHANGED = "the master key of the database has been changed: start again with the new one";

/** Keeps the master key from being rotated until the transaction ends. Throws `StoreUnavailable` if it has been. */
export async function holdKey(session: Session, vault: Vault): Promise<void> {
  const held = await session.query(HELD, [vault.checkValue]);
  if (held.length === 0) throw new StoreUnavailable(KEY_CHANGED);
}

/** A rotation locks this row first, and so waits for this lock. */
const HELD = "SELECT 1 FROM meta WHERE name = 'master_key_check' AND value = $1 FOR SHARE";
