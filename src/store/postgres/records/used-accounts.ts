import type { Session } from "../database/driver.ts";

/** Numbers of accounts that have messages: those stay, so what is remembered of them holds for good. */
export interface UsedAccounts {
  /** Within a transaction: the accounts from now on have messages. Throws where one does not exist. */
  use(session: Session, ids: ReadonlySet<string>): Promise<ReadonlyMap<string, number>>;
  /** After its commit. */
  keep(numbers: ReadonlyMap<string, number>): void;
}

/** Accounts remembered; beyond it all are forgotten, and read again. */
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
      if (numbers.size < ids.size) throw new Error("messages need an account that exists");
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

/** One that is being removed is waited for; in order, so that two transactions do not wait for one another. */
const MARK = `WITH found AS (SELECT id FROM accounts WHERE id = ANY($1) ORDER BY id FOR NO KEY UPDATE)
  UPDATE accounts SET has_messages = true FROM found WHERE accounts.id = found.id
  RETURNING accounts.id, accounts.number`;
