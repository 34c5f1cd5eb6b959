import type { SoftBounces } from "../../../core/suppressions/suppression.ts";
import type { Session } from "../database/driver.ts";

export interface Address {
  readonly accountId: string;
  readonly email: string;
}

export interface SoftChange extends Address {
  /** Absent: the count begins anew. */
  readonly count: SoftBounces | undefined;
}

/** Returns counts by `nameOfAddress`. Locks them, so that two bounces of one address are counted one after the other. */
export async function readSoftBounces(
  session: Session,
  addresses: readonly Address[],
): Promise<ReadonlyMap<string, SoftBounces>> {
  if (addresses.length === 0) return new Map();
  const rows = await session.query<SoftRow>(LOCK, columnsOf(addresses));
  return new Map(
    rows.map(({ account_id: accountId, email, days, last_day: lastDay }) => [
      nameOfAddress({ accountId, email }),
      { days, lastDay },
    ]),
  );
}

interface SoftRow {
  readonly account_id: string;
  readonly email: string;
  readonly days: number;
  readonly last_day: number;
}

const ADDRESSES = "unnest($1::text[], $2::text[]) AS t (account_id, email)";

/** Looks counts up one by one: if the table was empty when statistics were taken, the planner would read all of it. */
const LOCK = `SELECT b.account_id, b.email, b.days, b.last_day
  FROM (SELECT DISTINCT account_id COLLATE "C" AS account_id, email FROM ${ADDRESSES} ORDER BY 1, 2) AS t, LATERAL (
    SELECT * FROM soft_bounces WHERE account_id = t.account_id AND email = t.email FOR UPDATE
  ) AS b`;

export async function writeSoftBounces(session: Session, changes: readonly SoftChange[]): Promise<void> {
  const over = changes.filter(({ count }) => count === undefined);
  const counted = changes.flatMap((each) => (each.count ? [{ ...each, count: each.count }] : []));
  if (over.length > 0) await session.query(FORGET, columnsOf(over));
  if (counted.length === 0) return;
  await session.query(COUNT, [
    ...columnsOf(counted),
    counted.map(({ count }) => count.days),
    counted.map(({ count }) => count.lastDay),
  ]);
}

/** `IS TRUE`: as in `known-ids.ts`. */
const FORGET = `WITH forgiven AS (SELECT * FROM ${ADDRESSES})
  DELETE FROM soft_bounces WHERE account_id = ANY($1) AND email = ANY($2)
    AND ((account_id, email) IN (SELECT * FROM forgiven)) IS TRUE`;

const COUNT = `INSERT INTO soft_bounces (account_id, email, days, last_day)
  SELECT * FROM unnest($1::text[], $2::text[], $3::int[], $4::int[]) AS t (account_id, email)
  ORDER BY account_id, email
  ON CONFLICT (account_id, email) DO UPDATE SET days = excluded.days, last_day = excluded.last_day`;

function columnsOf(addresses: readonly Address[]) {
  return [addresses.map(({ accountId }) => accountId), addresses.map(({ email }) => email)];
}

export function nameOfAddress({ accountId, email }: Address): string {
  return `${accountId} ${email}`;
}
