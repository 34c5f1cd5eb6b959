import type { Suppression } from "../../../core/records/accounts.ts";
import { addressKey } from "../../../core/suppressions/address-key.ts";
import { firstSoftDay } from "../../../core/suppressions/suppression.ts";
import { spellingsOf } from "../../address-spellings.ts";
import type { ErasedForm } from "../../erasures/erased-recipient.ts";
import type { Retention } from "../../store.ts";
import { longest } from "../../suppressions/longest-suppressions.ts";
import { erasedSpellings } from "../../suppressions/suppression-names.ts";
import type { Session } from "../database/driver.ts";
import type { Database } from "../database/transactions.ts";
import { createOldRowDeletion } from "../retention/old-row-deletion.ts";

/**
 * Adds entries inside a transaction. If an address is on the list already, the entry that lasts longer stays, or the older of
 * two that end together. Returns how many were added or made to last longer.
 */
export async function addSuppressions(
  session: Session,
  suppressions: readonly Suppression[],
  toErased: ErasedForm | undefined,
): Promise<number> {
  const keyed = longest(suppressions.map((each) => ({ ...each, email: addressKey(each.email) })));
  const lasting = await renamed(session, keyed, toErased);
  if (lasting.length === 0) return 0;
  await renameOld(session, lasting);
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

/** In order of account and address, so that two transactions cannot deadlock. */
const ADD = `INSERT INTO suppressions AS s (id, account_id, email, reason, source, expires_at, created_at)
  SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::bigint[], $7::bigint[])
    AS t (id, account_id, email, reason, source, expires_at, created_at) ORDER BY account_id, email
  ON CONFLICT (account_id, email) DO UPDATE
    SET reason = excluded.reason, source = excluded.source, expires_at = excluded.expires_at,
        created_at = excluded.created_at
    WHERE s.expires_at IS NOT NULL AND (excluded.expires_at IS NULL OR excluded.expires_at > s.expires_at)
  RETURNING 1`;

/** Replaces addresses whose erased form is on the list by that form: an erased address is not stored again. */
async function renamed(
  session: Session,
  suppressions: readonly Suppression[],
  toErased: ErasedForm | undefined,
): Promise<readonly Suppression[]> {
  const forms = suppressions.flatMap(({ accountId, email }, at) =>
    erasedSpellings(email, toErased).map((form) => ({ accountId, form, at })),
  );
  if (forms.length === 0) return suppressions;
  const rows = await session.query<{ place: number }>(ERASED, [
    forms.map(({ accountId }) => accountId),
    forms.map(({ form }) => form),
  ]);
  const places = new Set(rows.map(({ place }) => place - 1));
  const found = forms.filter((_, index) => places.has(index));
  const names = new Map(found.map(({ at, form }) => [at, form]));
  return longest(suppressions.map((each, at) => ({ ...each, email: names.get(at) ?? each.email })));
}

/** `OFFSET 0`, here and below: if the table was empty when statistics were taken, the planner would compare all with all. */
const ERASED = `SELECT place FROM unnest($1::text[], $2::text[]) WITH ORDINALITY AS t (account_id, email, place)
  WHERE EXISTS (SELECT 1 FROM suppressions s WHERE s.account_id = t.account_id AND s.email = t.email OFFSET 0)`;

/** Renames entries under other spellings of the addresses, which are from before keys were used. */
async function renameOld(session: Session, suppressions: readonly Suppression[]): Promise<void> {
  const olds = suppressions.flatMap(({ accountId, email }) =>
    spellingsOf(email)
      .slice(1)
      .map((spelling) => ({ accountId, email, spelling })),
  );
  if (olds.length === 0) return;
  await session.query(RENAME, [
    olds.map(({ accountId }) => accountId),
    olds.map(({ email }) => email),
    olds.map(({ spelling }) => spelling),
  ]);
}

const RENAME = `UPDATE suppressions s SET email = t.email FROM (
    SELECT DISTINCT ON (o.account_id, t.email) o.id, t.email
    FROM unnest($1::text[], $2::text[], $3::text[]) AS t (account_id, email, spelling), LATERAL (
      SELECT * FROM suppressions WHERE account_id = t.account_id AND email = t.spelling OFFSET 0
    ) AS o
    WHERE NOT EXISTS (SELECT 1 FROM suppressions n WHERE n.account_id = t.account_id AND n.email = t.email OFFSET 0)
    ORDER BY o.account_id, t.email, o.id
  ) AS t WHERE s.id = ANY(ARRAY[t.id])`;

/** `Retention.pruneSuppressions`. */
export function createPruneSuppressions(db: Database): Retention["pruneSuppressions"] {
  const pruneEnded = createOldRowDeletion(db, {
    select: `SELECT id FROM suppressions WHERE expires_at <= $1 AND id <> ALL($3::text[])
      ORDER BY expires_at LIMIT $2 FOR UPDATE SKIP LOCKED`,
    remove: "DELETE FROM suppressions WHERE id = ANY(ARRAY(SELECT unnest($1::text[])))",
    nameOf: (id) => `suppression ${id}`,
  });
  const prunePast = createOldRowDeletion(db, {
    select: `SELECT ctid::text AS id FROM soft_bounces WHERE last_day < $1 AND ctid <> ALL($3::text[]::tid[])
      ORDER BY last_day LIMIT $2 FOR UPDATE SKIP LOCKED`,
    remove: "DELETE FROM soft_bounces WHERE ctid = ANY(ARRAY(SELECT unnest($1::text[])::tid))",
    nameOf: (place) => `soft bounce at ${place}`,
  });
  return async (now, limit) =>
    (await pruneEnded(now, now, limit)) + (await prunePast(firstSoftDay(now), now, limit));
}
