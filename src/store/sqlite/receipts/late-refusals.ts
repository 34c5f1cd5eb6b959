import { settles } from "../../../core/messages/progress.ts";
import { applyLateRefusal } from "../../../core/receipts/late-answer.ts";
import type { MessageRow } from "../../messages/message-rows.ts";
import { REFUSED_COLUMNS, type RefusedRow, toRefusedJob } from "../../receipts/refused-job.ts";
import type { ReceiptStore } from "../../store.ts";
import type { Database } from "../database/database.ts";
import { createEndWaiting, type EndingParts } from "../messages/ending.ts";
import { OF_MESSAGE } from "../queue/jobs-of-message.ts";

/** `ReceiptStore.recordLateRefusal`. */
export function createRecordLateRefusal(db: Database, parts: EndingParts): ReceiptStore["recordLateRefusal"] {
  const { accounts, messages } = parts;
  const endWaiting = createEndWaiting(db, parts);
  const findJob = db.prepare<RefusedRow>(
    `SELECT ${REFUSED_COLUMNS} FROM jobs WHERE ${OF_MESSAGE} AND id = coalesce(?2, id) LIMIT 1`,
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
      const step = applyLateRefusal(before, refusal, { at, job: job && toRefusedJob(job, isHolding(row)) });
      if (!step) return false;
      messages.save(row, step);
      if (job && step.dueAt !== undefined) postpone.run(step.dueAt, job.id);
      if (settles(before, step)) endWaiting(row);
      return true;
    }, 3);
}
