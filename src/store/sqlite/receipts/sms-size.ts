import { readSize, type SizeOf } from "../../receipts/receipt-state.ts";
import type { Database } from "../database/database.ts";

/** Reads the size of an SMS from the timeline entry of its last attempt. */
export function createSizeOf(db: Database): SizeOf {
  const last = db.prepare<{ detail: string | null }>(
    `SELECT detail FROM timeline WHERE message_id = ? AND kind IN ('attempt', 'lost_settle')
     ORDER BY position DESC LIMIT 1`,
  );
  return (messageId) => readSize(JSON.parse(last.get(messageId)?.detail ?? "{}"));
}
