import type { Session } from "./driver.ts";

/**
 * How many names there are, of each family: the server has room for some thousands of locks, of all transactions
 * together. Names that fall on one number are one name; that costs a wait and nothing else.
 */
const NAMES = 4_096;

export interface NamedLocks {
  /** Names the locks of what is different anyway. */
  readonly family: number;
  readonly names: ReadonlySet<string>;
  /** Apart from those alone that do not share. */
  readonly isShared?: boolean;
}

/**
 * From here to its end the transaction is alone with the names: a name is anything that two transactions must not be at
 * work on together. They are taken in one order, so a transaction that calls this once waits for none that waits for it.
 */
export async function lockNames(session: Session, { family, names, isShared }: NamedLocks): Promise<void> {
  if (names.size > 0) await session.query(isShared ? LOCK_SHARED : LOCK, [family, [...names]]);
}

const lockSql = (lock: string) => `SELECT ${lock}($1, number) FROM (
    SELECT DISTINCT hashtext(name) & ${NAMES - 1} AS number FROM unnest($2::text[]) AS t (name) ORDER BY number
  ) AS sorted`;

const LOCK = lockSql("pg_advisory_xact_lock");
const LOCK_SHARED = lockSql("pg_advisory_xact_lock_shared");
