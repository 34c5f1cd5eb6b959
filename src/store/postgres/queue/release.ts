import type { Queue } from "../../store.ts";
import type { Session } from "../database/driver.ts";
import type { MessageChanges, MessageLog } from "../messages/message-log.ts";
import type { Queues } from "./queues.ts";

/** `Queue.release`. */
export function createRelease(changes: MessageChanges, queues: Queues): Queue["release"] {
  return async (jobs, now) => {
    if (jobs.length === 0) return;
    const ready = await changes(async (session, log) => {
      const rows = await session.query<ReleasedRow>(RELEASE, [
        jobs.map(({ jobId }) => jobId),
        jobs.map(({ claim }) => claim),
        now,
      ]);
      await putBack(
        session,
        log,
        rows.map((row) => row.message_id),
      );
      return rows.map(({ name }) => name);
    });
    queues.notify(ready);
  };
}

interface ReleasedRow {
  readonly name: string;
  readonly message_id: string;
}

/** Locks jobs in the order of their ids, as does every statement that does not skip locked ones. */
const RELEASE = `UPDATE jobs SET due_at = NULL, is_leased = false, ready_since = $3
  FROM (
    SELECT j.id, j.queue
    FROM (SELECT * FROM unnest($1::bigint[], $2::int[]) AS t (id, claim) ORDER BY id) AS t, LATERAL (
      SELECT id, queue FROM jobs WHERE id = t.id AND claim = t.claim AND is_leased FOR UPDATE
    ) AS j
  ) AS held, queues q
  WHERE jobs.id = ANY(ARRAY[held.id]) AND q.number = held.queue
  RETURNING q.name, jobs.message_id`;

async function putBack(session: Session, log: MessageLog, ids: readonly string[]): Promise<void> {
  await log.lock(ids);
  const leased = await findLeased(session, ids);
  for (const id of ids) if (!leased.has(id)) log.moveStatus(id, "sending", "queued");
}

/** Which of the messages have a leased job. The caller has locked them. */
export async function findLeased(session: Session, ids: readonly string[]): Promise<ReadonlySet<string>> {
  if (ids.length === 0) return new Set();
  const sql = "SELECT message_id FROM jobs WHERE message_id = ANY($1::uuid[]) AND is_leased";
  const rows = await session.query<{ message_id: string }>(sql, [ids]);
  return new Set(rows.map((row) => row.message_id));
}
