import type { KnownIds } from "../../receipts/receipt-state.ts";
import type { Database } from "../database/database.ts";

/** Hands an overdue receipt of one connector to another one, who may be asked at once. */
export function createHandOver(db: Database): KnownIds["awaitInstead"] {
  const handOver = db.prepare(
    `UPDATE overdue_receipts SET connector_id = ?, asked = 0, ask_at = ?
     WHERE message_id = ? AND part = ? AND connector_id = +?`,
  );
  return ({ messageId, part }, { from, to }, at) => void handOver.run(to, at, messageId, part, from);
}
