import { MAX_TOGETHER } from "../../pass-over.ts";
import type { Database } from "../database/database.ts";
import type { Contents } from "../messages/contents.ts";
import { OWN_CONTENT } from "../messages/own-content.ts";
import type { Queues } from "./queues.ts";

/** Makes a function that lets a job in line wait. */
export function createPutOffReady(db: Database): (jobId: number, dueAt: number) => Promise<number> {
  const putOff = db.prepare("UPDATE jobs SET due_at = ? WHERE id = ? AND due_at IS NULL");
  return (jobId, dueAt) => db.write(() => putOff.run(dueAt, jobId));
}

export interface PutOffParts {
  readonly contents: Contents;
  readonly queues: Queues;
}

/** A job that a claim has taken. */
export interface TakenJob {
  readonly job_id: number;
  readonly message_id: string;
  readonly flow: number;
}

/**
 * Makes a function that lets a job wait that is first in its flow's line. If it is the content that cannot be read, all that share it wait,
 * as far as they are in line: one by one they would keep others waiting.
 */
export function createPutOffClaimed(db: Database, { contents, queues }: PutOffParts) {
  const putOffReady = createPutOffReady(db);
  const find = db.prepare<{ content: number }>("SELECT content FROM messages WHERE id = ?");
  const putOffBatch = db.prepare(
    `UPDATE jobs SET due_at = ?1 WHERE id IN (
       SELECT id FROM jobs WHERE due_at IS NULL AND queue = +?2 AND flow = +?3
       ORDER BY deadline, id LIMIT ${MAX_TOGETHER}
     ) AND (SELECT content FROM messages WHERE messages.id = jobs.message_id) = ?4`,
  );
  const unreadableContent = (id: string): number | undefined => {
    const content = find.get(id)?.content ?? OWN_CONTENT;
    if (content === OWN_CONTENT) return undefined;
    try {
      contents.find({ id, content });
      return undefined;
    } catch {
      return content;
    }
  };
  return async (queue: string, { job_id, message_id, flow }: TakenJob, dueAt: number): Promise<number> => {
    // Neither may work where the message's own row is damaged, or that of another.
    const content = await db.read(() => unreadableContent(message_id)).catch(() => undefined);
    const number = queues.numberOf(queue);
    if (content === undefined || number === undefined) return putOffReady(job_id, dueAt);
    const count = await db
      .write(() => putOffBatch.run(dueAt, number, flow, content), MAX_TOGETHER)
      .catch(() => 0);
    return count > 0 ? count : putOffReady(job_id, dueAt);
  };
}
