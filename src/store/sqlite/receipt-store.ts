import type { Receipt } from "../../core/outcome.ts";
import type { ProviderIds } from "../provider-ids.ts";
import type { ParkedReceipt, ReceiptStore } from "../store.ts";
import type { Database } from "./database.ts";
import { createOverdueReceipts, type OverdueParts } from "./overdue-receipts.ts";

/** `Store.receipts`. */
export function createReceiptStore(
  db: Database,
  { providerIds, ...parts }: OverdueParts & { readonly providerIds: ProviderIds },
): ReceiptStore {
  return {
    recordLateAnswer: (answer, at) => db.write(() => providerIds.answerLate(answer, at), 3),
    parked: createParkedList(db),
    ...createOverdueReceipts(db, parts),
  };
}

interface ParkedRow {
  readonly id: number;
  readonly receipt: string;
}

function createParkedList(db: Database): ReceiptStore["parked"] {
  const all = db.prepare<ParkedRow>(
    "SELECT id, receipt FROM parked_receipts WHERE id > ? ORDER BY id LIMIT ?",
  );
  const ofConnector = db.prepare<ParkedRow>(
    "SELECT id, receipt FROM parked_receipts WHERE connector_id = ? AND id > ? ORDER BY id LIMIT ?",
  );
  return ({ connectorId, after, limit }) =>
    db.read(() => {
      const last = Number(after ?? 0) || 0;
      const rows =
        connectorId === undefined ? all.all(last, limit) : ofConnector.all(connectorId, last, limit);
      return rows.map(toParkedReceipt);
    });
}

function toParkedReceipt({ id, receipt }: ParkedRow): ParkedReceipt {
  return { id: String(id), receipt: JSON.parse(receipt) as Receipt };
}
