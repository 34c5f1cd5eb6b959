import type { TimelineEntry } from "../../../core/messages/message.ts";
import { saysHandedTo } from "../../receipts/attempt-entries.ts";
import type { ReceiptState } from "../../receipts/receipt-state.ts";
import type { Database } from "../database/database.ts";
import type { MessageLog } from "../messages/message-log.ts";

/** `ReceiptState.wasHandedTo`: reads the timeline, including entries that the transaction has not written yet. */
export function createWasHandedTo(
  db: Database,
  messages: Pick<MessageLog, "unwrittenEntries">,
): ReceiptState<never>["wasHandedTo"] {
  const attempts = db.prepare<AttemptRow>(
    "SELECT kind, detail FROM timeline WHERE message_id = ? AND kind IN ('attempt', 'lost_settle', 'interrupted')",
  );
  return (messageId, connectorId) =>
    messages.unwrittenEntries(messageId).some((entry) => saysHandedTo(entry, connectorId)) ||
    attempts
      .all(messageId)
      .some(({ kind, detail }) => saysHandedTo({ kind, detail: JSON.parse(detail ?? "{}") }, connectorId));
}

interface AttemptRow {
  readonly kind: TimelineEntry["kind"];
  readonly detail: string | null;
}
