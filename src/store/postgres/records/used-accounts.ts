import type { Session } from "../database/driver.ts";
import type { Database } from "../database/transactions.ts";

/** A cache of the numbers of accounts that have messages. On one server it never goes stale, since such accounts cannot be removed. */
export interface UsedAccounts {
  /** Within a transaction: marks the accounts as having messages; returns numbers by id, without those that do not exist. */
  use(session: Session, ids: ReadonlySet<string>): Promise<ReadonlyMap<string, number>>;
  /** After the commit of `use`: caches its numbers. */
  keep(numbers: ReadonlyMap<string, number>): void;
}

/** How many accounts to cache. A full cache is emptied. */
const MAX_KEPT = 100_000;

export function createUsedAccounts(db: Pick<Database, "onOtherServer">): UsedAccounts {
  const kept = new Map<string, number>();
  db.onOtherServer(() => kept.clear());
  return {
    async use(session, ids) {
      const numbers = new Map(
        [...ids].flatMap((id) => (kept.has(id) ? [[id, kept.get(id) ?? -1] as const] : [])),
      );
      const unknown = [...ids].filter((id) => !numbers.has(id));
      if (unknown.length === 0) return numbers;
      const found = await session.query<AccountRow>(FIND, [unknown]);
      for (const { id, number } of found) numbers.set(id, number);
      await mark(
        session,
        found.filter((account) => !account.has_messages).map(({ id }) => id),
      );
      return numbers;
    },
    keep(numbers) {
      if (kept.size + numbers.size > MAX_KEPT) kept.clear();
      for (const [id, number] of numbers) kept.set(id, number);
    },
  };
}

interface AccountRow {
  readonly id: string;
  readonly number: number;
  readonly has_messages: boolean;
}

/** Waits for an account that is being removed, and keeps others from it until the transaction ends. */
const FIND = "SELECT id, number, has_messages FROM accounts WHERE id = ANY($1) ORDER BY id FOR KEY SHARE";

/**
 * Locks the accounts first, in order, in a statement of its own: if one statement locks and updates rows that others refer to, two of
 * them may wait for each other.
 */
async function mark(session: Session, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return;
  await session.query("SELECT 1 FROM accounts WHERE id = ANY($1) ORDER BY id FOR NO KEY UPDATE", [ids]);
  await session.query("UPDATE accounts SET has_messages = true WHERE id = ANY($1)", [ids]);
}
