import { settles } from "../../../core/messages/progress.ts";
import { applyLateRefusal, type RefusedJob } from "../../../core/receipts/late-answer.ts";
import { type MessageRow, toIndexes } from "../../messages/message-rows.ts";
import type { ReceiptStore } from "../../store.ts";
import type { Database } from "../database/database.ts";
import { createEndWaiting, type EndingParts } from "../messages/ending.ts";
import { OF_MESSAGE } from "../queue/jobs-of-message.ts";

/** `ReceiptStore.recordLateRefusal`. */
export function createRecordLateRefusal(db: Database, parts: EndingParts): ReceiptStore["recordLateRefusal"] {
  const { accounts, messages } = parts;
  const endWaiting = createEndWaiting(db, parts);
  const findJob = db.prepare<JobRow>(
    `SELECT id, parts, due_at, is_leased, attempt, deadline FROM jobs
     WHERE ${OF_MESSAGE} AND id = coalesce(?2, id) LIMIT 1`,
  );
  const postpone = db.prepare("UPDATE jobs SET due_at = ? WHERE id = ? AND due_at IS NOT NULL");
  const isHolding = ({ account }: MessageRow) =>
    accounts.byNumber(account)?.settings.on_unconfirmed === "hold";

  return (refusal, at) =>
    db.write(() => {
      const message = messages.read(refusal.messageId);
      if (!message) return true;
      const { row, progress: before } = message;
      const job = findJob.get(row.id, refusal.jobId ?? null);
      const step = applyLateRefusal(before, refusal, { at, job: job && toJob(job, isHolding(row)) });
      if (!step) return false;
      messages.save(row, step);
      if (job && step.dueAt !== undefined) postpone.run(step.dueAt, job.id);
      if (settles(before, step)) endWaiting(row);
      return true;
    }, 3);
}

interface JobRow {
  readonly id: number;
  readonly parts: string | null;
  readonly due_at: number | null;
  readonly is_leased: number;
  readonly attempt: number;
  readonly deadline: number;
}

function toJob({ parts, due_at, is_leased, attempt, deadline }: JobRow, isHolding: boolean): RefusedJob {
  const isHeld = is_leased === 0 && due_at === deadline;
  return { ...toIndexes(parts), isLeased: is_leased === 1, isHeld, attempt, deadline, isHolding };
}
