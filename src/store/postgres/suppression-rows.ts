import type { Suppression } from "../../core/accounts.ts";
import { firstSoftDay } from "../../core/suppression.ts";
import type { ErasedForm } from "../erased-recipient.ts";
import type { Session } from "./driver.ts";

/**
 * Adds entries inside a transaction. Where an address is on the list already the entry that lasts longer stays, the
 * older of two alike. How many addresses were added or made to last longer.
 */
export async function addSuppressions(
  session: Session,
  suppressions: readonly Suppression[],
  toErased: ErasedForm | undefined,
): Promise<number> {
  const lasting = await renamed(session, longest(suppressions), toErased);
  if (lasting.length === 0) return 0;
  const rows = await session.query(ADD, [
    lasting.map(({ id }) => id),
    lasting.map(({ accountId }) => accountId),
    lasting.map(({ email }) => email),
    lasting.map(({ reason }) => reason),
    lasting.map(({ source }) => source ?? null),
    lasting.map(({ expiresAt }) => expiresAt ?? null),
    lasting.map(({ createdAt }) => createdAt),
  ]);
  return rows.length;
}

/** In the order of their names, so that two transactions do not wait for one another. */
const ADD = `INSERT INTO suppressions AS s (id, account_id, email, reason, source, expires_at, created_at)
  SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::bigint[], $7::bigint[])
    AS t (id, account_id, email, reason, source, expires_at, created_at) ORDER BY account_id, email
  ON CONFLICT (account_id, email) DO UPDATE
    SET reason = excluded.reason, source = excluded.source, expires_at = excluded.expires_at,
        created_at = excluded.created_at
    WHERE s.expires_at IS NOT NULL AND (excluded.expires_at IS NULL OR excluded.expires_at > s.expires_at)
  RETURNING 1`;

/** One entry an address: one statement cannot write a row twice. */
function longest(suppressions: readonly Suppression[]): readonly Suppression[] {
  const byAddress = new Map<string, Suppression>();
  for (const each of suppressions) {
    const name = `${each.accountId} ${each.email}`;
    const before = byAddress.get(name);
    if (!before || endOf(each) > endOf(before)) byAddress.set(name, each);
  }
  return [...byAddress.values()];
}

function endOf({ expiresAt = Number.POSITIVE_INFINITY }: Suppression): number {
  return expiresAt;
}

/** What was erased is not written down again. */
async function renamed(
  session: Session,
  suppressions: readonly Suppression[],
  toErased: ErasedForm | undefined,
): Promise<readonly Suppression[]> {
  if (!toErased || suppressions.length === 0) return suppressions;
  const forms = suppressions.map(({ email }) => toErased(email));
  const rows = await session.query<{ place: number }>(ERASED, [
    suppressions.map(({ accountId }) => accountId),
    forms,
  ]);
  const isErased = new Set(rows.map(({ place }) => place - 1));
  return longest(
    suppressions.map((each, at) => (isErased.has(at) ? { ...each, email: forms[at] ?? each.email } : each)),
  );
}

const ERASED = `SELECT place FROM unnest($1::text[], $2::text[]) WITH ORDINALITY AS t (account_id, email, place)
  WHERE EXISTS (SELECT 1 FROM suppressions s WHERE s.account_id = t.account_id AND s.email = t.email)`;

/** Deletes suppressions that have ended, and soft bounces that lie too far back to count. */
export async function pruneSuppressions(session: Session, now: number, limit: number): Promise<number> {
  const ended = await session.query(ENDED, [now, limit]);
  const past = await session.query(PAST, [firstSoftDay(now), limit]);
  return ended.length + past.length;
}

const ENDED = `DELETE FROM suppressions WHERE id IN (
    SELECT id FROM suppressions WHERE expires_at <= $1 ORDER BY expires_at LIMIT $2 FOR UPDATE SKIP LOCKED
  ) RETURNING 1`;

const PAST = `DELETE FROM soft_bounces WHERE (account_id, email) IN (
    SELECT account_id, email FROM soft_bounces WHERE last_day < $1 ORDER BY last_day LIMIT $2
    FOR UPDATE SKIP LOCKED
  ) RETURNING 1`;
