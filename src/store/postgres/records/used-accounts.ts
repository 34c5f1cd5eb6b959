import type { Session } from "../database/driver.ts";

/** A cache of the numbers of accounts that have messages. It never goes stale, since such accounts cannot be removed. */
export interface UsedAccounts {
  /** Within a transaction: marks the accounts as having messages; returns numbers by id, without those that do not exist. */
  use(session: Session, ids: ReadonlySet<string>): Promise<ReadonlyMap<string, number>>;
  /** After the commit of `use`: caches its numbers. */
  keep(numbers: ReadonlyMap<string, number>): void;
}

/** When the cache is full it is emptied. */
const MAX_KEPT = 100_000;

export function createUsedAccounts(): UsedAccounts {
  const kept = new Map<string, number>();
  return {
    async use(session, ids) {
      const numbers = new Map(
        [...ids].flatMap((id) => (kept.has(id) ? [[id, kept.get(id) ?? -1] as const] : [])),
      );
      const unknown = [...ids].filter((id) => !numbers.has(id));
      if (unknown.length === 0) return numbers;
      for (const { id, number } of await session.query<AccountRow>(MARK, [unknown])) numbers.set(id, number);
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
}

/** Waits for an account that is being removed. In order, so that two transactions cannot deadlock. */
const MARK = `WITH found AS (SELECT id FROM accounts WHERE id = ANY($1) ORDER BY id FOR NO KEY UPDATE)
  UPDATE accounts SET has_messages = true FROM found WHERE accounts.id = found.id
  RETURNING accounts.id, accounts.number`;
