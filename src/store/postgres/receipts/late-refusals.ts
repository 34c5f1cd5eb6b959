import { isSettled } from "../../../core/messages/progress.ts";
import { applyLateRefusal } from "../../../core/receipts/late-answer.ts";
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
      const job = await lockJob(session, messageId);
      await log.lock([messageId]);
      const message = log.find(messageId);
      if (!message) return true;
      const settings = (await readSettings(session, [message.accountId]))(message.accountId);
      const isHolding = settings.on_unconfirmed === "hold";
      const step = applyLateRefusal(message.progress, refusal, {
        at,
        job: job && { isLeased: job.is_leased, attempt: job.attempt, deadline: job.deadline, isHolding },
      });
      if (!step) return false;
      log.save(message, step);
      if (job && step.dueAt !== undefined) await session.query(POSTPONE, [step.dueAt, job.id]);
      if (!isSettled(message.progress) && isSettled(step.progress))
        await endWaiting(session, log, new Set([messageId]));
      return true;
    });
}

interface JobRow {
  readonly id: number;
  readonly is_leased: boolean;
  readonly attempt: number;
  readonly deadline: number;
}

async function lockJob(session: Session, messageId: string): Promise<JobRow | undefined> {
  const [job] = await session.query<JobRow>(LOCK_JOB, [messageId]);
  return job;
}

/** An SMS has one job at most. */
const LOCK_JOB = "SELECT id, is_leased, attempt, deadline FROM jobs WHERE message_id = $1 FOR UPDATE";

const POSTPONE = "UPDATE jobs SET due_at = $1 WHERE id = $2 AND due_at IS NOT NULL";
