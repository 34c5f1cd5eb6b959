import { noteLateRelease } from "../../../core/messages/lost-settle.ts";
import type { Queue, ReleasedJob } from "../../store.ts";
import type { Database } from "../database/database.ts";
import type { MessageLog } from "../messages/message-log.ts";
import { HAS_LEASED_JOB } from "./jobs-of-message.ts";
import type { Queues } from "./queues.ts";

/** `Queue.release`. */
export function createRelease(
  db: Database,
  { messages, queues }: { readonly messages: MessageLog; readonly queues: Queues },
): Queue["release"] {
  const release = db.prepare<{ queue: number; message_id: string }>(
    `UPDATE jobs SET due_at = NULL, is_leased = 0, ready_since = ?
     WHERE id = ? AND claim = ? AND is_leased = 1 RETURNING queue, message_id`,
  );
  const undoInterruption = db.prepare<{ message_id: string }>(
    `UPDATE jobs SET was_interrupted = ?1, interruptions = ?2, interrupted_claim = ?3
     WHERE id = ?4 AND claim = ?5 AND is_leased = 0 AND was_interrupted = 1 AND interruptions > ?2
     RETURNING message_id`,
  );
  const hasLeasedJob = db.prepare(HAS_LEASED_JOB);

  const releaseInTime = ({ jobId, claim }: ReleasedJob, now: number): boolean => {
    const job = release.get(now, jobId, claim);
    if (!job) return false;
    if (!hasLeasedJob.get(job.message_id)) messages.moveStatus(job.message_id, "sending", "queued");
    queues.notify(queues.nameOf(job.queue));
    return true;
  };
  const releaseLate = (released: ReleasedJob, now: number): boolean => {
    const { jobId, claim, wasInterrupted, interruptions, interruptedClaim } = released;
    const job = undoInterruption.get(
      wasInterrupted ? 1 : 0,
      interruptions,
      interruptedClaim ?? null,
      jobId,
      claim,
    );
    const message = job && messages.read(job.message_id);
    if (message) messages.save(message.row, noteLateRelease(message.progress, now));
    return job !== undefined;
  };
  return (jobs, now) =>
    db.write(() => jobs.map((job) => releaseInTime(job, now) || releaseLate(job, now)), jobs.length);
}
