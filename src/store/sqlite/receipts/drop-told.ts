import type { Receipt } from "../../../core/messages/outcome.ts";
import { foldId } from "../../../core/receipts/provider-id.ts";
import { keysOfParked } from "../../receipts/parked-keys.ts";
import { isToldFailure, type ToldFailure } from "../../receipts/told-failure.ts";
import type { Database } from "../database/database.ts";

/** Deletes the parked rows of failures that have been told, at the end of the transaction: until then its settlements may take them. */
export function createDropTold(db: Database): (told: readonly ToldFailure[]) => void {
  const find = db.prepare<{ receipt: string }>(
    "SELECT receipt FROM parked_receipts WHERE connector_id = +? AND id_key = +?",
  );
  const remove = db.prepare(
    "DELETE FROM parked_receipts WHERE connector_id = +? AND id_key = +? AND receipt = ?",
  );
  let all: ToldFailure[] = [];
  const drop = (told: ToldFailure) => {
    const { connectorId } = told;
    for (const { receipt: text } of find.all(connectorId, foldId(told.messageId))) {
      const receipt = JSON.parse(text) as Receipt;
      if (!isToldFailure(receipt, told)) continue;
      for (const key of keysOfParked(receipt)) remove.run(connectorId, key, text);
    }
  };
  db.beforeEnd(() => {
    if (all.length === 0) return;
    all.forEach(drop);
    all = [];
  });
  db.onRollback(() => {
    all = [];
  });
  return (told) => void all.push(...told);
}
