import type { Receipt } from "../../../core/messages/outcome.ts";
import { MAX_COUNTED } from "../../max-counted.ts";
import type { ProviderIds } from "../../receipts/provider-ids.ts";
import type { DroppedReceipts, ParkedReceipt, ReceiptStore } from "../../store.ts";
import type { Database } from "../database/database.ts";
import { createOverdueReceipts, type OverdueParts } from "./overdue-receipts.ts";
import { createRecordReceipts } from "./record-receipts.ts";

/** `Store.receipts`. */
export function createReceiptStore(
  db: Database,
  { providerIds, ...parts }: OverdueParts & { readonly providerIds: ProviderIds },
): ReceiptStore {
  return {
    record: createRecordReceipts(db, providerIds),
    recordLateAnswer: (answer, at) => db.write(() => providerIds.answerLate(answer, at), 3),
    parked: createParkedList(db),
    countParked: createParkedCount(db),
    dropParked: createDropParked(db),
    ...createOverdueReceipts(db, parts),
  };
}

function createParkedCount(db: Database): ReceiptStore["countParked"] {
  const count = db.prepare<{ count: number }>(
    `SELECT count(*) AS count FROM (SELECT 1 FROM parked_receipts LIMIT ${MAX_COUNTED})`,
  );
  return () => db.read(() => count.get()?.count ?? 0);
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

/** Counts first, in a read: a connector hardly ever has too many. */
function createDropParked(db: Database): ReceiptStore["dropParked"] {
  const nextConnector = db.prepare<{ connector_id: string }>(
    "SELECT connector_id FROM parked_receipts WHERE connector_id > ? ORDER BY connector_id LIMIT 1",
  );
  const count = db.prepare<{ receipts: number }>(
    "SELECT count(*) AS receipts FROM (SELECT 1 FROM parked_receipts WHERE connector_id = ? LIMIT ?)",
  );
  const remove = db.prepare(
    `DELETE FROM parked_receipts WHERE id IN
       (SELECT id FROM parked_receipts WHERE connector_id = ? ORDER BY id LIMIT ?)`,
  );
  const find = ({ most, limit }: Parameters<ReceiptStore["dropParked"]>[0]) => {
    const found: DroppedReceipts[] = [];
    for (let row = nextConnector.get(""); row; row = nextConnector.get(row.connector_id)) {
      const { connector_id: connectorId } = row;
      const receipts = (count.get(connectorId, most + limit)?.receipts ?? 0) - most;
      if (receipts > 0) found.push({ connectorId, receipts });
    }
    return found;
  };
  return async (bounds) => {
    const found = await db.read(() => find(bounds));
    for (const { connectorId, receipts } of found) {
      await db.write(() => remove.run(connectorId, receipts), receipts);
    }
    return found;
  };
}

function toParkedReceipt({ id, receipt }: ParkedRow): ParkedReceipt {
  return { id: String(id), receipt: JSON.parse(receipt) as Receipt };
}
