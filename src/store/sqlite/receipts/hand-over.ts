import { overdueRowsOf } from "../../receipts/overdue-row.ts";
import type { KnownIds } from "../../receipts/receipt-state.ts";
import type { Database } from "../database/database.ts";

/** Hands an overdue receipt of one connector to another one, who may be asked at once; not if it is overdue there already. */
export function createHandOver(db: Database): KnownIds["awaitInstead"] {
  const ofCopy = "message_id = ? AND part IN (?, ?) AND connector_id = +?";
  const isOverdue = db.prepare(`SELECT 1 FROM overdue_receipts WHERE ${ofCopy}`);
  const drop = db.prepare(`DELETE FROM overdue_receipts WHERE ${ofCopy}`);
  const handOver = db.prepare(
    `UPDATE overdue_receipts SET connector_id = ?, asked = 0, ask_at = ? WHERE ${ofCopy}`,
  );
  return ({ messageId, part }, { from, to }, at) => {
    const rows = overdueRowsOf(part);
    if (isOverdue.get(messageId, ...rows, to)) drop.run(messageId, ...rows, from);
    else handOver.run(to, at, messageId, ...rows, from);
  };
}
