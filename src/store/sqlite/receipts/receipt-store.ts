import type { ListOrder } from "../../../core/lists/list-order.ts";
import type { Receipt } from "../../../core/messages/outcome.ts";
import { MAX_COUNTED } from "../../max-counted.ts";
import { lastOf, SECOND_ROW } from "../../receipts/parked-keys.ts";
import type { ProviderIds } from "../../receipts/provider-ids.ts";
import type { DroppedReceipts, ParkedReceipt, ReceiptStore } from "../../store.ts";
import type { Database } from "../database/database.ts";
import type { EndingParts } from "../messages/ending.ts";
import { createRecordLateRefusal } from "./late-refusals.ts";
import { createOverdueReceipts, type OverdueParts } from "./overdue-receipts.ts";
import { createRecordReceipts } from "./record-receipts.ts";

/** `Store.receipts`. */
export function createReceiptStore(
  db: Database,
  { providerIds, ...parts }: OverdueParts & EndingParts & { readonly providerIds: ProviderIds },
): ReceiptStore {
  return {
    record: createRecordReceipts(db, providerIds),
    recordLateAnswer: (answer, at) => db.write(() => providerIds.answerLate(answer, at), 3),
    recordLateRefusal: createRecordLateRefusal(db, parts),
    parked: createParkedList(db),
    countParked: createParkedCount(db),
    dropParked: createDropParked(db),
    ...createOverdueReceipts(db, parts),
  };
}

/** `ReceiptStore.countParked`: all rows minus the second ones. Both are counted in indexes, without reading a receipt. */
function createParkedCount(db: Database): ReceiptStore["countParked"] {
  const rows = db.prepare<{ count: number }>(
    `SELECT count(*) AS count FROM (SELECT 1 FROM parked_receipts LIMIT ${2 * MAX_COUNTED})`,
  );
  const secondRows = db.prepare<{ count: number }>(
    `SELECT count(*) AS count FROM
       (SELECT 1 FROM parked_receipts WHERE reference = ${SECOND_ROW} LIMIT ${MAX_COUNTED})`,
  );
  return () =>
    db.read(() => Math.min(MAX_COUNTED, (rows.get()?.count ?? 0) - (secondRows.get()?.count ?? 0)));
}

const IS_FIRST_ROW = `reference IS NOT ${SECOND_ROW}`;

interface ParkedRow {
  readonly id: number;
  readonly receipt: string;
}

function createParkedList(db: Database): ReceiptStore["parked"] {
  const prepared = (order: ListOrder) => ({
    all: db.prepare<ParkedRow>(`SELECT id, receipt FROM parked_receipts WHERE ${BEYOND[order]}`),
    ofConnector: db.prepare<ParkedRow>(
      `SELECT id, receipt FROM parked_receipts WHERE connector_id = ? AND ${BEYOND[order]}`,
    ),
  });
  const lists = { oldest: prepared("oldest"), newest: prepared("newest") };
  return (query) =>
    db.read(() => {
      const { order = "oldest", connectorId, limit } = query;
      const { all, ofConnector } = lists[order];
      const last = lastOf(query);
      const rows =
        connectorId === undefined ? all.all(last, limit) : ofConnector.all(connectorId, last, limit);
      return rows.map(toParkedReceipt);
    });
}

const BEYOND = {
  oldest: `id > ? AND ${IS_FIRST_ROW} ORDER BY id LIMIT ?`,
  newest: `id < ? AND ${IS_FIRST_ROW} ORDER BY id DESC LIMIT ?`,
} as const satisfies Record<ListOrder, string>;

/** `ReceiptStore.dropParked`. Counts first, in a read: a connector hardly ever has too many. */
function createDropParked(db: Database): ReceiptStore["dropParked"] {
  const nextConnector = db.prepare<{ connector_id: string }>(
    "SELECT connector_id FROM parked_receipts WHERE connector_id > ? ORDER BY connector_id LIMIT 1",
  );
  const count = db.prepare<{ rows: number }>(
    "SELECT count(*) AS rows FROM (SELECT 1 FROM parked_receipts WHERE connector_id = ? LIMIT ?)",
  );
  const oldest = "(SELECT id FROM parked_receipts WHERE connector_id = ? ORDER BY id LIMIT ?)";
  const countFirst = db.prepare<{ receipts: number }>(
    `SELECT count(*) AS receipts FROM parked_receipts WHERE id IN ${oldest} AND ${IS_FIRST_ROW}`,
  );
  const remove = db.prepare(`DELETE FROM parked_receipts WHERE id IN ${oldest}`);
  const find = ({ most, limit }: Parameters<ReceiptStore["dropParked"]>[0]) => {
    const found: { readonly connectorId: string; readonly rows: number }[] = [];
    for (let row = nextConnector.get(""); row; row = nextConnector.get(row.connector_id)) {
      const { connector_id: connectorId } = row;
      const rows = (count.get(connectorId, most + limit)?.rows ?? 0) - most;
      if (rows > 0) found.push({ connectorId, rows });
    }
    return found;
  };
  const drop = (connectorId: string, rows: number) => {
    const receipts = countFirst.get(connectorId, rows)?.receipts ?? 0;
    remove.run(connectorId, rows);
    return receipts;
  };
  return async (bounds) => {
    const dropped: DroppedReceipts[] = [];
    for (const { connectorId, rows } of await db.read(() => find(bounds))) {
      const receipts = await db.write(() => drop(connectorId, rows), rows);
      if (receipts > 0) dropped.push({ connectorId, receipts });
    }
    return dropped;
  };
}

function toParkedReceipt({ id, receipt }: ParkedRow): ParkedReceipt {
  return { id: String(id), receipt: JSON.parse(receipt) as Receipt };
}
