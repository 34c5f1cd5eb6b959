import type { Idempotency } from "../../../core/messages/accept-request.ts";
import { applyCancel, judgeCancel } from "../../../core/messages/cancel.ts";
import { isUuid } from "../../../core/uuid.ts";
import type { MessageStore } from "../../store.ts";
import type { Session } from "../database/driver.ts";
import { takeKeys, WITHOUT_LIMIT } from "../intake/idempotency-keys.ts";
import { readSettings } from "../records/account-settings.ts";
import { endMessage } from "./ending.ts";
import type { MessageChanges } from "./message-log.ts";

/** `MessageStore.cancel`. Locks the jobs first, so that a claim has either taken them already, or never will. */
export function createCancel(changes: MessageChanges): MessageStore["cancel"] {
  return async ({ accountId, channel, id, now, idempotency }) => {
    if (!isUuid(id)) return "not_found";
    return changes(async (session, log) => {
      const mayHaveLeft = await lockJobs(session, id);
      await log.lock([id]);
      const message = log.find(id);
      if (message?.accountId !== accountId || message.progress.channel !== channel) return "not_found";
      const verdict = judgeCancel(message.progress, mayHaveLeft);
      if (verdict === "too_late") return verdict;
      if (verdict === "cancel") {
        const settingsOf = await readSettings(session, [accountId]);
        const step = applyCancel(message.progress, now);
        endMessage(log, message, { step, settings: settingsOf(accountId) });
        await session.query("DELETE FROM jobs WHERE message_id = $1", [id]);
      }
      return idempotency && !(await isNew(session, idempotency)) ? "replayed" : "canceled";
    });
  };
}

/** Saves the key if it is new. No other transaction can be taking it: its scope names the message, which is locked. */
async function isNew(session: Session, key: Idempotency): Promise<boolean> {
  const answer = { status: 200, body: "" };
  const others = await takeKeys(session, [{ ...key, answer }], WITHOUT_LIMIT);
  return others.size === 0;
}

/** Locks the message's jobs. Returns whether an attempt is under way, or one has ended with its outcome unknown. */
async function lockJobs(session: Session, id: string): Promise<boolean> {
  const jobs = await session.query<{ is_leased: boolean }>(LOCK_JOBS, [id]);
  if (jobs.some((job) => job.is_leased)) return true;
  return (await session.query(LOST, [id])).length > 0;
}

/**
 * In an order that no index has: if no job was left when statistics were taken, the planner would rather go through all jobs in
 * the order of ids than sort these.
 */
const LOCK_JOBS = "SELECT is_leased FROM jobs WHERE message_id = $1 ORDER BY id + 0 FOR UPDATE";

const LOST = `SELECT 1 FROM timeline WHERE message_id = $1 AND kind IN ('interrupted', 'lost_settle') LIMIT 1`;
