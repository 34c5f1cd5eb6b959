import { applyCancel, judgeCancel } from "../../../core/messages/cancel.ts";
import type { MessageStore } from "../../store.ts";
import type { Database } from "../database/database.ts";
import type { IdempotencyKeys } from "../intake/idempotency-keys.ts";
import { HAS_LEASED_JOB, OF_MESSAGE } from "../queue/jobs-of-message.ts";
import { createEnding, type EndingParts } from "./ending.ts";

interface CancelParts extends EndingParts {
  readonly keys: Pick<IdempotencyKeys, "take">;
}

/** `MessageStore.cancel`. Claims are transactions too, so a job was leased before this transaction, or never will be. */
export function createCancel(db: Database, parts: CancelParts): MessageStore["cancel"] {
  const end = createEnding(parts);
  const hasLeasedJob = db.prepare(HAS_LEASED_JOB);
  const wasLost = db.prepare(
    "SELECT 1 FROM timeline WHERE message_id = ? AND kind IN ('interrupted', 'lost_settle') LIMIT 1",
  );
  const removeJobs = db.prepare(`DELETE FROM jobs WHERE ${OF_MESSAGE}`);

  const cancel = ({ accountId, channel, id, now, idempotency }: Parameters<MessageStore["cancel"]>[0]) => {
    const message = parts.messages.read(id);
    const isTheirs = message && message.row.account === parts.accounts.byId(accountId)?.number;
    if (!isTheirs || message.row.channel !== channel) return "not_found";
    const { row, progress: before } = message;
    const verdict = judgeCancel(before, Boolean(hasLeasedJob.get(id) ?? wasLost.get(id)));
    if (verdict === "too_late") return verdict;
    if (verdict === "cancel") {
      end(row, applyCancel(before, now));
      removeJobs.run(id);
    }
    const first = idempotency && parts.keys.take(idempotency, { status: 200, body: "" });
    return first ? "replayed" : "canceled";
  };
  return (query) => db.writeForClient(() => cancel(query), 3);
}
