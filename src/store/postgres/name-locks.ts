import type { Session } from "./driver.ts";

/** Locks a transaction takes at the most: the server has room for some thousands, of all transactions together. */
const MAX_NAMES = 1_000;

/**
 * From here to its end the transaction is alone with the names, among those of the same family: a name is anything that
 * two transactions must not be at work on together. They are taken in one order, so a transaction that calls this once
 * waits for no other that waits for it. One with very many names is alone with the whole family instead.
 */
export async function lockNames(session: Session, family: number, names: ReadonlySet<string>): Promise<void> {
  if (names.size === 0) return;
  if (names.size > MAX_NAMES) {
    await session.query("SELECT pg_advisory_xact_lock($1::bigint)", [family]);
    return;
  }
  await session.query("SELECT pg_advisory_xact_lock_shared($1::bigint)", [family]);
  await session.query(LOCK, [family, [...names]]);
}

/** Two names with one hash are one name; that costs a wait and nothing else. */
const LOCK = `SELECT pg_advisory_xact_lock($1, hash)
  FROM (SELECT DISTINCT hashtext(name) AS hash FROM unnest($2::text[]) AS t (name) ORDER BY hash) AS sorted`;
