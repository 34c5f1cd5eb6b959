import { noteLateRelease } from "../../../core/messages/lost-settle.ts";
import type { Queue } from "../../store.ts";
import type { Session } from "../database/driver.ts";
import type { MessageChanges, MessageLog } from "../messages/message-log.ts";
import type { Queues } from "./queues.ts";

/** `Queue.release`. */
export function createRelease(changes: MessageChanges, queues: Queues): Queue["release"] {
  return async (jobs, now) => {
    if (jobs.length === 0) return [];
    const rows = await changes(async (session, log) => {
      const released = await session.query<ReleasedRow>(RELEASE, [
        jobs.map(({ jobId }) => jobId),
        jobs.map(({ claim }) => claim),
        jobs.map(({ messageId }) => messageId),
        jobs.map(({ wasInterrupted }) => wasInterrupted),
        jobs.map(({ interruptions }) => interruptions),
        jobs.map(({ interruptedClaim }) => interruptedClaim ?? null),
        now,
      ]);
      await log.lock(released.map((row) => row.message_id));
      await putBack(session, log, messagesOf(released, { areLate: false }));
      for (const id of messagesOf(released, { areLate: true })) noteLate(log, id, now);
      return released;
    });
    queues.notify(rows.map(({ name }) => name));
    const ids = new Set(rows.map(({ id }) => id));
    return jobs.map(({ jobId }) => ids.has(jobId));
  };
}

interface ReleasedRow {
  readonly id: number;
  readonly name: string;
  readonly message_id: string;
  /** The lease had run out. */
  readonly is_late: boolean;
}

/**
 * Locks jobs in the order of their ids, as does every statement that does not skip locked ones. A job whose lease has run out is
 * ready already; only its latest interruption is undone. The message is compared too, as in a settlement: a promoted standby that lacks
 * what was committed last gives ids of jobs anew.
 */
const RELEASE = `UPDATE jobs SET due_at = NULL, is_leased = false,
    ready_since = CASE WHEN held.is_leased THEN $7 ELSE ready_since END,
    was_interrupted = held.was_interrupted, interruptions = held.interruptions,
    interrupted_claim = held.interrupted_claim
  FROM (
    SELECT j.id, j.queue, j.is_leased, t.was_interrupted, t.interruptions, t.interrupted_claim
    FROM (
      SELECT * FROM unnest($1::bigint[], $2::int[], $3::uuid[], $4::boolean[], $5::int[], $6::int[])
        AS t (id, claim, message_id, was_interrupted, interruptions, interrupted_claim) ORDER BY id
    ) AS t, LATERAL (
      SELECT id, queue, is_leased FROM jobs WHERE id = t.id AND claim = t.claim AND message_id = t.message_id
        AND (is_leased OR jobs.was_interrupted AND jobs.interruptions > t.interruptions) FOR UPDATE
    ) AS j
  ) AS held, queues q
  WHERE jobs.id = ANY(ARRAY[held.id]) AND q.number = held.queue
  RETURNING jobs.id, q.name, jobs.message_id, NOT held.is_leased AS is_late`;

function messagesOf(rows: readonly ReleasedRow[], { areLate }: { readonly areLate: boolean }): string[] {
  return rows.filter(({ is_late }) => is_late === areLate).map((row) => row.message_id);
}

async function putBack(session: Session, log: MessageLog, ids: readonly string[]): Promise<void> {
  const leased = await findLeased(session, ids);
  for (const id of ids) if (!leased.has(id)) log.moveStatus(id, "sending", "queued");
}

function noteLate(log: MessageLog, id: string, now: number): void {
  const message = log.find(id);
  if (message) log.save(message, noteLateRelease(message.progress, now));
}

/** Which of the messages have a leased job. The caller has locked them. */
export async function findLeased(session: Session, ids: readonly string[]): Promise<ReadonlySet<string>> {
  if (ids.length === 0) return new Set();
  const sql = "SELECT message_id FROM jobs WHERE message_id = ANY($1::uuid[]) AND is_leased";
  const rows = await session.query<{ message_id: string }>(sql, [ids]);
  return new Set(rows.map((row) => row.message_id));
}
