import type { Transaction } from "./transactions.ts";

/**
 * How many locks there are of each family: the server has room for some thousands, of all transactions together. Names
 * that fall on the same number share a lock; that costs a wait and nothing else.
 */
const NAMES = 4_096;

export interface NamedLocks {
  /** One of `LOCKS`: names of different families are different locks. */
  readonly family: number;
  readonly names: ReadonlySet<string>;
  /** Waits only for transactions that do not share. */
  readonly isShared?: boolean;
}

/**
 * Locks names until the transaction ends. A name stands for anything that two transactions must not work on at the same time.
 * Names are locked in the same order everywhere, so two transactions that each call this once cannot deadlock.
 */
export function lockNames(session: Transaction, { family, names, isShared }: NamedLocks): void {
  if (names.size > 0) session.run(isShared ? LOCK_SHARED : LOCK, [family, [...names]]);
}

const lockSql = (lock: string) => `SELECT ${lock}($1, number) FROM (
    SELECT DISTINCT hashtext(name) & ${NAMES - 1} AS number FROM unnest($2::text[]) AS t (name) ORDER BY number
  ) AS sorted`;

const LOCK = lockSql("pg_advisory_xact_lock");
const LOCK_SHARED = lockSql("pg_advisory_xact_lock_shared");
