import type { Clock } from "../../../core/clock.ts";
import { uuidTime } from "../../../core/uuid.ts";
import type { OtherEvent } from "../../../core/webhooks/feed-event.ts";
import type { Notifier } from "../../notifier.ts";
import { createPutOffRows, passOver } from "../../pass-over.ts";
import type { EventFeed } from "../../store.ts";
import type { Session } from "../database/driver.ts";
import { createFloor } from "../database/floor.ts";
import { LOCKS } from "../database/lock-numbers.ts";
import type { Database } from "../database/transactions.ts";
import { createWholeLooks } from "../queue/whole-looks.ts";
import { type Days, onDays } from "../retention/days.ts";
import { NUMBERS_ROW } from "./event-numbers-row.ts";

export interface NumberingParts {
  readonly clock: Clock;
  readonly days: Days;
  /** Notified of the ids of accounts that have events to read. */
  readonly notifier: Notifier<string>;
}

/**
 * `EventFeed.numberEvents`. Committed events get the next numbers, and show in the feed from then on; events that commit later
 * get higher ones. Does nothing while another process is numbering. A process that stands still while it numbers (a virtual
 * machine being moved, a network that is cut) holds the others up for two seconds. An event that cannot be numbered is passed over for
 * some seconds or minutes.
 *
 * At the start, and on another server than before, the numbers go ahead of all that were given: the database may lack its last
 * transactions, and readers have cursors from them.
 */
export function createNumberEvents(
  db: Database,
  { clock, days, notifier }: NumberingParts,
): EventFeed["numberEvents"] {
  /** Counts the servers that there have been, and says on which of them the numbers have gone ahead. */
  let servers = 0;
  let aheadOn: number | undefined;
  db.onOtherServer(() => void servers++);
  const putOff = createPutOffRows<number>();
  const number = async (ids: readonly number[]) => {
    const { rows, on } = await db.transaction(async (session) => {
      const on = servers;
      const [row] = await session.query<{ is_ours: boolean }>(TRY_LOCK);
      if (!row?.is_ours) return { rows: [], on: aheadOn };
      if (aheadOn !== on) session.run(GO_AHEAD);
      const rows = await session.query<NumberedRow>(NUMBER, [ids]);
      if (rows.some((row) => !row.is_numbered)) throw new Error("the number of the last event is not there");
      return { rows, on };
    });
    aheadOn = on;
    return rows;
  };
  const waitingRows = createWaitingRows(db, clock);
  const numberSome = async (limit: number, take: (rows: readonly WaitingRow[]) => void) => {
    const waiting = await waitingRows.find(limit, putOff.ids(clock.now()));
    if (waiting.length === 0 && aheadOn === servers) return 0;
    take(waiting);
    const times = waiting.map((row) => uuidTime(row.message_id) ?? 0);
    const numbered = await onDays(days, async () => {
      await days.ensure(times);
      return number(waiting.map(({ id }) => id));
    });
    waitingRows.reach(waiting);
    notifier.notify(numbered.flatMap((row) => row.id ?? []));
    return numbered.reduce((sum, row) => sum + row.events, 0);
  };
  return (limit) =>
    passOver({
      limit,
      now: clock.now(),
      run: numberSome,
      putOff: async ({ id }, dueAt) => putOff.add(id, dueAt),
    });
}

interface WaitingRow {
  readonly id: number;
  readonly message_id: string;
}

/**
 * A transaction that has written events ends within so long: its statements, and the pauses between them, may last 10 s each. One that
 * took longer might have its events numbered behind later ones of the same message.
 */
const LAG_MS = 60_000;

/** Finds events that wait, those that were written first: from the start, or, where that is slow, from what was numbered a minute ago. */
function createWaitingRows(db: Database, clock: Clock) {
  const wholeLooks = createWholeLooks(clock);
  let floor = createFloor(clock, LAG_MS);
  // A server that lacks the last transactions gives ids anew.
  db.onOtherServer(() => {
    floor = createFloor(clock, LAG_MS);
  });
  return {
    find(limit: number, except: readonly number[]): Promise<readonly WaitingRow[]> {
      const look = (behind: number) => db.query<WaitingRow>(WAITING, [limit, except, behind]);
      if (!wholeLooks.isDue()) return look(floor.id());
      wholeLooks.begin();
      return wholeLooks.timed(() => look(0));
    },
    reach(rows: readonly WaitingRow[]): void {
      const last = rows.at(-1);
      if (last) floor.reach(last.id);
    },
  };
}

const WAITING = `SELECT id, subject_id AS message_id FROM new_events WHERE id > $3::bigint AND id <> ALL($2::bigint[])
  ORDER BY id LIMIT $1`;

/** How long the server hears nothing from us before it ends the transaction, and with it the lock. */
const STANDSTILL_MS = 2_000;

const TRY_LOCK = `SELECT pg_try_advisory_xact_lock(${LOCKS.numbering}) AS is_ours,
  set_config('idle_in_transaction_session_timeout', '${STANDSTILL_MS}', true)`;

/** See `numberAfterRestore`; by the server's clock. */
const GO_AHEAD =
  "UPDATE event_numbers SET last = greatest(last, (extract(epoch FROM clock_timestamp()) * 1000000)::bigint)";

interface NumberedRow {
  /** The account's id; `null` if it has been deleted. */
  readonly id: string | null;
  /** How many events were numbered. */
  readonly events: number;
  /** Whether there was a row that counts them. */
  readonly is_numbered: boolean;
}

/** A statement of its own after the lock, so that it sees everything that was numbered before: of the ids, those that another took are gone. */
const NUMBER = `WITH taken AS (
    DELETE FROM new_events WHERE id = ANY($1::bigint[]) RETURNING *
  ), counter AS (
    UPDATE event_numbers SET last = last + (SELECT count(*) FROM taken) WHERE ctid = ${NUMBERS_ROW} RETURNING last
  ), numbered AS (
    INSERT INTO events (subject_id, position, account, number, event_id, at, type, data)
    SELECT subject_id, position, account, counter.last - count(*) OVER () + row_number() OVER (ORDER BY id),
      event_id, at, type, data
    FROM taken, counter
  )
  SELECT a.id, count(*) AS events, EXISTS (SELECT FROM counter) AS is_numbered FROM taken LEFT JOIN accounts a ON a.number = taken.account GROUP BY a.id`;

/** An event about an inbound message. */
export interface NewOtherEvent {
  readonly account: number;
  /** UUIDv7. */
  readonly subjectId: string;
  readonly event: OtherEvent;
}

/** Adds events about inbound messages, within the transaction that stores these. */
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
