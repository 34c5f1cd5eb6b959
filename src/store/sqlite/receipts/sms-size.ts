import { isOfAttempt, readSize } from "../../receipts/attempt-entries.ts";
import type { SizeOf } from "../../receipts/receipt-state.ts";
import type { Database } from "../database/database.ts";
import type { MessageLog } from "../messages/message-log.ts";

/** `SizeOf`: reads the size from the timeline entry of the last attempt, which the transaction may not have written yet. */
export function createSizeOf(db: Database, messages: Pick<MessageLog, "unwrittenEntries">): SizeOf {
  const last = db.prepare<{ detail: string | null }>(
    `SELECT detail FROM timeline WHERE message_id = ? AND kind IN ('attempt', 'lost_settle')
     ORDER BY position DESC LIMIT 1`,
  );
  return (messageId) => {
    const unwritten = messages.unwrittenEntries(messageId).findLast(isOfAttempt);
    return readSize(unwritten ? (unwritten.detail ?? {}) : JSON.parse(last.get(messageId)?.detail ?? "{}"));
  };
}
