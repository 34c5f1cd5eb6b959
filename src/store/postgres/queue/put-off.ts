import { joinContent } from "../../messages/message-rows.ts";
import { isOutage } from "../../outage.ts";
import { MAX_TOGETHER } from "../../pass-over.ts";
import type { Session } from "../database/driver.ts";
import type { LeasedRow } from "./take-jobs.ts";

/** Makes a job in line wait. */
export async function putOffReady(session: Session, jobId: number, dueAt: number): Promise<void> {
  await session.query("UPDATE jobs SET due_at = $2 WHERE id = $1 AND due_at IS NULL", [jobId, dueAt]);
}

type TakenJob = Pick<LeasedRow, "id" | "message_id" | "flow"> & { readonly queue: string };

/**
 * Makes a job wait that is first in its flow's line. If it is the content that cannot be read, all that share it wait, as far as they are
 * in line: one by one they would keep others waiting. Resolves with how many wait.
 */
export async function putOffClaimed(session: Session, job: TakenJob, dueAt: number): Promise<number> {
  if (!(await hasReadableContent(session, job.message_id))) {
    const values = [job.queue, job.flow, job.message_id, dueAt];
    const { length } = await session.query(PUT_OFF_BATCH, values).catch(orNone);
    if (length > 0) return length;
  }
  await putOffReady(session, job.id, dueAt);
  return 1;
}

async function hasReadableContent(session: Session, messageId: string): Promise<boolean> {
  try {
    const [row] = await session.query<{ envelope: string; body: string | null }>(CONTENT, [messageId]);
    if (row) joinContent(row.envelope, row.body);
    return true;
  } catch (error) {
    orNone(error);
    return false;
  }
}

/** For a row that cannot be read. */
function orNone(error: unknown): readonly [] {
  if (isOutage(error)) throw error;
  return [];
}

const CONTENT =
  "SELECT c.envelope, c.body FROM messages m JOIN contents c ON c.id = m.content WHERE m.id = $1";

/** Looks the messages up one by one, since the planner cannot know how few there are. */
const PUT_OFF_BATCH = `UPDATE jobs SET due_at = $4 WHERE due_at IS NULL AND id = ANY(ARRAY(
    SELECT j.id FROM (
      SELECT id, message_id FROM jobs
      WHERE due_at IS NULL AND flow = $2 AND queue = (SELECT number FROM queues WHERE name = $1)
      ORDER BY deadline, id LIMIT ${MAX_TOGETHER} FOR UPDATE SKIP LOCKED
    ) AS j, LATERAL (
      SELECT 1 FROM messages m WHERE m.id = j.message_id
        AND m.content = (SELECT content FROM messages WHERE id = $3) OFFSET 0
    ) AS shared))
  RETURNING 1`;
