import { overdueRowsOf } from "../../receipts/overdue-row.ts";
import type { KnownIds } from "../../receipts/receipt-state.ts";
import type { Database } from "../database/database.ts";

/**
 * `KnownIds.awaitInstead`: hands the question about an overdue receipt to the other connector, due at once. If that one is to be
 * asked already, only drops the question to the first one.
 */
export function createAwaitInstead(db: Database): KnownIds["awaitInstead"] {
  const ofCopy = "message_id = ? AND part IN (?, ?) AND connector_id = +?";
  const isOverdue = db.prepare(`SELECT 1 FROM overdue_receipts WHERE ${ofCopy}`);
  const drop = db.prepare(`DELETE FROM overdue_receipts WHERE ${ofCopy}`);
  const move = db.prepare(
    `UPDATE overdue_receipts SET connector_id = ?, asked = 0, ask_at = ? WHERE ${ofCopy}`,
  );
  return ({ messageId, part }, { from, to }, at) => {
    const rows = overdueRowsOf(part);
    if (isOverdue.get(messageId, ...rows, to)) drop.run(messageId, ...rows, from);
    else move.run(to, at, messageId, ...rows, from);
  };
}
