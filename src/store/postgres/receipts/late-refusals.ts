import { settles } from "../../../core/messages/progress.ts";
import { applyLateRefusal, type LateRefusal } from "../../../core/receipts/late-answer.ts";
import { REFUSED_COLUMNS, type RefusedRow, toRefusedJob } from "../../receipts/refused-job.ts";
import type { ReceiptStore } from "../../store.ts";
import type { Session } from "../database/driver.ts";
import { endWaiting } from "../messages/ending.ts";
import type { MessageChanges } from "../messages/message-log.ts";
import { readSettings } from "../records/account-settings.ts";

/** `ReceiptStore.recordLateRefusal`. Locks the job first, so that no claim takes it meanwhile. */
export function createRecordLateRefusal(changes: MessageChanges): ReceiptStore["recordLateRefusal"] {
  return (refusal, at) =>
    changes(async (session, log) => {
      const { messageId } = refusal;
      const job = await lockJob(session, refusal);
      await log.lock([messageId]);
      const message = log.find(messageId);
      if (!message) return true;
      const settings = (await readSettings(session, [message.accountId]))(message.accountId);
      const isHolding = settings.on_unconfirmed === "hold";
      const step = applyLateRefusal(message.progress, refusal, {
        at,
        job: job && toRefusedJob(job, isHolding),
      });
      if (!step) return false;
      log.save(message, step);
      if (job && step.dueAt !== undefined) await session.query(POSTPONE, [step.dueAt, job.id]);
      if (settles(message.progress, step)) await endWaiting(session, log, new Set([messageId]));
      return true;
    });
}

async function lockJob(session: Session, { messageId, jobId }: LateRefusal): Promise<RefusedRow | undefined> {
  const [job] = await session.query<RefusedRow>(LOCK_JOB, [messageId, jobId ?? null]);
  return job;
}

/** An SMS has one job at most. */
const LOCK_JOB = `SELECT ${REFUSED_COLUMNS} FROM jobs
  WHERE message_id = $1 AND id = coalesce($2::bigint, id) FOR UPDATE`;

const POSTPONE = "UPDATE jobs SET due_at = $1 WHERE id = $2 AND due_at IS NOT NULL";
