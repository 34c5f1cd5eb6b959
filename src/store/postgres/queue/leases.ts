import type { Heartbeat, LeaseSnapshot, LeaseStore, LiveProcess, SlotLease } from "../../store.ts";
import { LOCKS } from "../database/lock-numbers.ts";
import type { Database, Transaction } from "../database/transactions.ts";

export function createLeases(db: Database): LeaseStore {
  return {
    // The heartbeats of all others wait for the lock, so none of these statements waits for an answer to the one before.
    heartbeat: (beat) =>
      db.transaction(async (session) => {
        session.run(LOCK);
        removeDead(session, beat);
        const live = session.query<{ isNew: boolean }>(LIVE, [beat.process, beat.isSharing]);
        keepAndTake(session, beat);
        const [[own], snapshot] = await Promise.all([live, readSnapshot(session)]);
        return { isNew: own?.isNew ?? false, ...snapshot };
      }),
    leave: async (process) => void (await db.query("DELETE FROM lease_processes WHERE id = $1", [process])),
  };
}

/**
 * How long a process may stand still in its heartbeat. It holds up the heartbeats of all others, so this is less than the time for
 * which their leases are valid without one.
 */
const STANDSTILL_MS = 4_000;

/** From here on the server ends the transaction, and with it the lock, if it hears nothing from us for that long. */
const LOCK = `SELECT set_config('idle_in_transaction_session_timeout', '${STANDSTILL_MS}', true),
  pg_advisory_xact_lock(${LOCKS.leases})`;

/**
 * A condition for rows with a `holder`: whether process $4 may end their leases when their time is up. It must not end those
 * of another live process: that one's clock may differ by more than a lease, and it ends its own.
 */
export const MAY_END = `(holder IS NULL OR holder = $4::text OR holder NOT IN (SELECT id FROM lease_processes))`;

function removeDead(session: Transaction, { dead, now }: Heartbeat): void {
  if (dead.length === 0) return;
  session.run(REMOVE_DEAD, [dead.map((one) => one.process), dead.map((one) => one.heartbeat), now]);
}

/**
 * Ends the leases of dead processes' jobs and webhooks now, so that the next sweep finds them. Looks through leased rows only. Skips
 * rows that are locked: they are being settled, or their transaction stands still with its process, and all others would wait for it.
 */
const REMOVE_DEAD = `WITH removed AS (
    DELETE FROM lease_processes AS p USING unnest($1::text[], $2::bigint[]) AS dead (id, turn)
    WHERE p.id = dead.id AND p.turn = dead.turn RETURNING p.id
  ), held AS (
    SELECT id FROM jobs WHERE is_leased = true AND due_at > $3 AND holder IN (SELECT id FROM removed)
    FOR UPDATE SKIP LOCKED
  ), jobs_ended AS (
    UPDATE jobs SET due_at = $3 FROM held WHERE jobs.id = ANY(ARRAY[held.id])
  ), carried AS (
    SELECT id FROM webhooks WHERE state = 'leased' AND due_at > $3 AND holder IN (SELECT id FROM removed)
    FOR UPDATE SKIP LOCKED
  )
  UPDATE webhooks SET due_at = $3 FROM carried WHERE webhooks.id = ANY(ARRAY[carried.id])`;

/** The column `turn` numbers heartbeats, over all processes. */
const LIVE = `WITH before AS (SELECT FROM lease_processes WHERE id = $1)
  INSERT INTO lease_processes (id, turn, is_sharing) VALUES ($1, nextval('lease_turns'), $2)
  ON CONFLICT (id) DO UPDATE SET turn = excluded.turn, is_sharing = excluded.is_sharing RETURNING NOT EXISTS (SELECT FROM before) AS "isNew"`;

function keepAndTake(session: Transaction, { process, keep, take }: Heartbeat): void {
  const slotsOf = (leases: Heartbeat["take"]) =>
    [leases.map(({ name }) => name), leases.map(({ slot }) => slot)] as const;
  session.run(GIVE_UP, [process, ...slotsOf(keep)]);
  session.run(MARK, [process, ...slotsOf(keep), keep.map(({ isUp }) => isUp)]);
  if (take.length > 0) session.run(TAKE, [process, ...slotsOf(take)]);
}

const GIVE_UP = `DELETE FROM leases WHERE process = $1
  AND (name, slot) NOT IN (SELECT * FROM unnest($2::text[], $3::int[]))`;

const MARK = `UPDATE leases AS l SET is_up = kept.is_up
  FROM unnest($2::text[], $3::int[], $4::boolean[]) AS kept (name, slot, is_up)
  WHERE l.name = kept.name AND l.slot = kept.slot AND l.process = $1 AND l.is_up <> kept.is_up`;

const TAKE = `INSERT INTO leases (name, slot, process)
  SELECT name, slot, $1 FROM unnest($2::text[], $3::int[]) AS t (name, slot) ON CONFLICT DO NOTHING`;

async function readSnapshot(session: Transaction): Promise<Omit<LeaseSnapshot, "isNew">> {
  const [processes, leases] = await Promise.all([
    session.query<LiveProcess>(PROCESSES),
    session.query<SlotLease>(LEASES),
  ]);
  return { processes, leases };
}

const PROCESSES = `SELECT id AS process, turn AS heartbeat, is_sharing AS "isSharing" FROM lease_processes`;

const LEASES = `SELECT name, slot, process, is_up AS "isUp" FROM leases ORDER BY name, slot`;
