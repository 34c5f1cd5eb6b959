import { uuidTime } from "../../../core/uuid.ts";
import type { OtherEvent } from "../../../core/webhooks/feed-event.ts";
import type { UpkeepStore } from "../../store.ts";
import type { Bell } from "../database/bell.ts";
import { isOutOfRange, type Session } from "../database/driver.ts";
import { LOCKS } from "../database/lock-numbers.ts";
import type { Database } from "../database/transactions.ts";
import type { Days } from "../retention/days.ts";

export interface NumberingParts {
  readonly days: Days;
  /** Rung with the ids of accounts that have events to read. */
  readonly bell: Bell<string>;
}

/**
 * `UpkeepStore.numberEvents`. What is committed gets the next numbers, and is seen with them or not at all; what commits
 * later gets later ones. While another process is at it there is nothing to do.
 */
export function createNumberEvents(
  db: Database,
  { days, bell }: NumberingParts,
): UpkeepStore["numberEvents"] {
  const number = (limit: number) =>
    db.transaction(async (session) =>
      (await tryLock(session)) ? session.query<ToldRow>(NUMBER, [limit]) : [],
    );
  return async (_now, limit) => {
    const waiting = await db.query<{ subject_id: string }>(WAITING, [limit]);
    if (waiting.length === 0) return 0;
    const times = waiting.map((row) => uuidTime(row.subject_id) ?? 0);
    await days.ensure(times);
    const told = await number(limit).catch(async (error: unknown) => {
      if (!isOutOfRange(error)) throw error;
      // A day that is remembered has been dropped meanwhile.
      days.forget();
      await days.ensure(times);
      return number(limit);
    });
    bell.ring(told.flatMap((row) => row.id ?? []));
    return told.reduce((sum, row) => sum + row.events, 0);
  };
}

async function tryLock(session: Session): Promise<boolean> {
  const [row] = await session.query<{ is_ours: boolean }>(
    `SELECT pg_try_advisory_xact_lock(${LOCKS.numbering}) AS is_ours`,
  );
  return row?.is_ours === true;
}

const WAITING = "SELECT subject_id FROM new_events ORDER BY id LIMIT $1";

interface ToldRow {
  /** `null`: the account is gone. */
  readonly id: string | null;
  readonly events: number;
}

/** After the lock, in a statement of its own: it sees all that was numbered before. */
const NUMBER = `WITH taken AS (
    DELETE FROM new_events WHERE id = ANY(ARRAY(SELECT id FROM new_events ORDER BY id LIMIT $1)) RETURNING *
  ), counter AS (
    UPDATE event_numbers SET last = last + (SELECT count(*) FROM taken) RETURNING last
  ), numbered AS (
    INSERT INTO events (subject_id, position, account, number, event_id, at, type, data)
    SELECT subject_id, position, account, counter.last - count(*) OVER () + row_number() OVER (ORDER BY id),
      event_id, at, type, data
    FROM taken, counter
  )
  SELECT a.id, count(*) AS events FROM taken LEFT JOIN accounts a ON a.number = taken.account GROUP BY a.id`;

/** An event that is about no message of ours, but about one that came in. */
export interface NewOtherEvent {
  readonly account: number;
  /** UUIDv7. */
  readonly subjectId: string;
  readonly event: OtherEvent;
}

/** Within the transaction that makes them. */
export async function addOtherEvents(session: Session, events: readonly NewOtherEvent[]): Promise<void> {
  if (events.length === 0) return;
  await session.query(ADD_OTHERS, [
    events.map(({ subjectId }) => subjectId),
    events.map(({ account }) => account),
    events.map(({ event }) => event.id),
    events.map(({ event }) => event.at),
    events.map(({ event }) => event.type),
    events.map(({ event }) => JSON.stringify(event.data)),
  ]);
}

const ADD_OTHERS = `INSERT INTO new_events (subject_id, position, account, event_id, at, type, data)
  SELECT subject_id, 0, account, event_id, at, type, data
  FROM unnest($1::uuid[], $2::int[], $3::text[], $4::bigint[], $5::text[], $6::text[])
    AS t (subject_id, account, event_id, at, type, data)`;
