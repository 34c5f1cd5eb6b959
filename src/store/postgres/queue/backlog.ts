import type { Queue, QueueBacklog } from "../../store.ts";
import type { Session } from "../database/driver.ts";

/** How many flows of a queue to look at for its oldest job. */
const MAX_FLOWS = 1_000;

/** `Queue.backlog`. */
export function createBacklog(session: Session): Queue["backlog"] {
  return async (countTo) => (await session.query<BacklogRow>(BACKLOG, [countTo])).map(toBacklog);
}

interface BacklogRow {
  readonly name: string;
  readonly ready: number;
  readonly since: number | null;
}

function toBacklog({ name, ready, since }: BacklogRow): QueueBacklog {
  return { queue: name, ready, ...(since !== null && { oldestReadySince: since }) };
}

/** A job that never waited has been ready since its message was accepted: that time is in the first 48 bits of the id. */
const READY_SINCE = `coalesce(ready_since, ('x' || left(replace(message_id::text, '-', ''), 12))::bit(48)::bigint)`;

/** For each queue: how many jobs are ready, and since when the oldest has been, among the first jobs of its flows. */
const BACKLOG = `SELECT q.name, counted.ready, oldest.since
  FROM queues q, LATERAL (
    SELECT count(*) AS ready FROM (
      SELECT 1 FROM jobs WHERE due_at IS NULL AND queue = q.number LIMIT $1) AS first
  ) AS counted, LATERAL (
    WITH RECURSIVE heads AS (
      (SELECT flow, message_id, ready_since FROM jobs WHERE due_at IS NULL AND queue = q.number
       ORDER BY flow, deadline, id LIMIT 1)
      UNION ALL
      SELECT next.* FROM heads, LATERAL (
        SELECT j.flow, j.message_id, j.ready_since FROM jobs j
        WHERE j.due_at IS NULL AND j.queue = q.number AND j.flow > heads.flow
        ORDER BY j.flow, j.deadline, j.id LIMIT 1) AS next
    )
    SELECT min(${READY_SINCE}) AS since FROM (SELECT * FROM heads LIMIT ${MAX_FLOWS}) AS seen
  ) AS oldest
  ORDER BY q.name COLLATE "C"`;
