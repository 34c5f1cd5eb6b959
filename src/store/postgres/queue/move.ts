import type { JobInLine } from "../../../core/queue/claimed-job.ts";
import { joinContent, type ProgressRow, toIndexes, toProgress } from "../../messages/message-rows.ts";
import type { Queue } from "../../store.ts";
import type { Database } from "../database/transactions.ts";
import type { Queues } from "./queues.ts";

/** `Queue.inLine` and `Queue.move`. */
export function createMove(db: Database, queues: Queues): Pick<Queue, "inLine" | "move"> {
  return {
    async inLine(queue, { after, limit }) {
      const place = [after?.flow ?? -1, after?.deadline ?? 0, after?.jobId ?? 0];
      return (await db.query<RowInLine>(IN_LINE, [queue, ...place, limit])).map(toJobInLine);
    },
    async move(jobs) {
      const names = jobs.map(({ queue }) => queue);
      await db.prepared(async () => {
        const numberOf = await queues.numbersOf(names);
        const moved = [
          jobs.map(({ jobId }) => jobId),
          jobs.map(({ claim }) => claim),
          jobs.map(({ messageId }) => messageId),
          names.map(numberOf),
        ];
        return (session) => session.query(MOVE, moved);
      });
      queues.notify(names);
    },
  };
}

interface RowInLine extends ProgressRow {
  readonly job_id: number;
  readonly message_id: string;
  readonly flow: number;
  readonly deadline: number;
  readonly claim: number;
  readonly job_parts: string | null;
  readonly recipient: string;
  readonly envelope: string;
  readonly account_id: string;
}

/** The jobs are picked first, so that the planner cannot begin with all messages. */
const IN_LINE = `WITH line AS MATERIALIZED (
    SELECT id, flow, deadline, claim, parts, message_id FROM jobs
    WHERE due_at IS NULL AND queue = (SELECT number FROM queues WHERE name = $1)
      AND (flow, deadline, id) > ($2::int, $3::bigint, $4::bigint)
    ORDER BY flow, deadline, id LIMIT $5
  )
  SELECT j.id AS job_id, j.message_id, j.flow, j.deadline, j.claim, j.parts AS job_parts, m.channel, m.recipient, m.status,
    m.parts, m.sequence, m.position, m.error, c.envelope, a.id AS account_id
  FROM line j JOIN messages m ON m.id = j.message_id JOIN contents c ON c.id = m.content
  JOIN accounts a ON a.number = ANY(ARRAY[m.account])
  ORDER BY j.flow, j.deadline, j.id`;

function toJobInLine(row: RowInLine): JobInLine {
  return {
    jobId: row.job_id,
    messageId: row.message_id,
    flow: row.flow,
    deadline: row.deadline,
    claim: row.claim,
    accountId: row.account_id,
    recipient: row.recipient,
    ...toIndexes(row.job_parts),
    progress: toProgress(row),
    content: joinContent(row.envelope, null),
  };
}

/**
 * Locks jobs in the order of their ids, as does every statement that does not skip locked ones. The message is compared for the reason
 * that `RELEASE` has.
 */
const MOVE = `UPDATE jobs SET queue = line.queue
  FROM (
    SELECT j.id, t.queue
    FROM (
      SELECT * FROM unnest($1::bigint[], $2::int[], $3::uuid[], $4::int[]) AS t (id, claim, message_id, queue) ORDER BY id
    ) AS t, LATERAL (
      SELECT id FROM jobs WHERE id = t.id AND claim = t.claim AND message_id = t.message_id AND NOT is_leased FOR UPDATE
    ) AS j
  ) AS line
  WHERE jobs.id = ANY(ARRAY[line.id])`;
