import type { ListOrder } from "../../../core/lists/list-order.ts";
import type { Receipt } from "../../../core/messages/outcome.ts";
import type { LateAnswer } from "../../../core/receipts/late-answer.ts";
import { MAX_COUNTED } from "../../max-counted.ts";
import { lastOf, SECOND_ROW } from "../../receipts/parked-keys.ts";
import type { DroppedReceipts, ParkedQuery, ParkedReceipt, ReceiptStore } from "../../store.ts";
import type { Session } from "../database/driver.ts";
import type { ClosableDatabase } from "../database/transactions.ts";
import type { ErasedNames } from "../erasures/erased-names.ts";
import type { MessageChanges } from "../messages/message-log.ts";
import { beginReceipts } from "./begin-receipts.ts";
import { createRecordLateRefusal } from "./late-refusals.ts";
import { createOverdueReceipts } from "./overdue-receipts.ts";
import { createRecordReceipts } from "./record-receipts.ts";

export interface ReceiptStoreParts {
  readonly changes: MessageChanges;
  /** For calls that were admitted before they joined a group; see `ClosableDatabase`. */
  readonly changesWithin: MessageChanges;
  readonly erasedNames: ErasedNames;
}

/** `Store.receipts`. Receipts share commits. */
export function createReceiptStore(
  { database: db, admit }: ClosableDatabase,
  { changes, changesWithin, erasedNames }: ReceiptStoreParts,
): ReceiptStore {
  const record = createRecordReceipts({ changes: changesWithin, erasedNames });
  return {
    record: (receipts) => admit(() => record(receipts)),
    recordLateAnswer: (answer, at) =>
      changes(async (session, log) => {
        const begun = await beginReceipts(session, subjectsOf(answer), erasedNames);
        await log.lock(begun.messageIds);
        const { providerIds, write } = await begun.open(log);
        providerIds.answerLate(answer, at);
        await write();
      }),
    recordLateRefusal: createRecordLateRefusal(changes),
    parked: (query) => listParked(db, query),
    countParked: () => countParked(db),
    dropParked: (bounds) => dropParked(db, bounds),
    ...createOverdueReceipts(db, changes),
  };
}

function subjectsOf({ connectorId, providerMessageIds: ids, messageId }: LateAnswer) {
  return { ids: [{ connectorId, ids }], answered: [messageId] };
}

/** True of one row of each receipt. */
const IS_FIRST_ROW = `reference IS DISTINCT FROM ${SECOND_ROW}`;

async function listParked(session: Session, query: ParkedQuery): Promise<readonly ParkedReceipt[]> {
  const { order = "oldest", connectorId, limit } = query;
  const { all, ofConnector } = LISTS[order];
  const last = lastOf(query);
  const rows =
    connectorId === undefined
      ? await session.query<ParkedRow>(all, [last, limit])
      : await session.query<ParkedRow>(ofConnector, [last, limit, connectorId]);
  return rows.map(({ id, receipt }) => ({ id: String(id), receipt: JSON.parse(receipt) as Receipt }));
}

interface ParkedRow {
  readonly id: number;
  readonly receipt: string;
}

const BEYOND = {
  oldest: `id > $1 AND ${IS_FIRST_ROW} ORDER BY id LIMIT $2`,
  newest: `id < $1 AND ${IS_FIRST_ROW} ORDER BY id DESC LIMIT $2`,
} as const satisfies Record<ListOrder, string>;

const listsOf = (order: ListOrder) => ({
  all: `SELECT id, receipt FROM parked_receipts WHERE ${BEYOND[order]}`,
  ofConnector: `SELECT id, receipt FROM parked_receipts WHERE connector_id = $3 AND ${BEYOND[order]}`,
});

const LISTS = { oldest: listsOf("oldest"), newest: listsOf("newest") };

async function countParked(session: Session): Promise<number> {
  const [row] = await session.query<{ count: number }>(COUNT);
  return row?.count ?? 0;
}

const COUNT = `SELECT count(*) AS count
  FROM (SELECT 1 FROM parked_receipts WHERE ${IS_FIRST_ROW} LIMIT ${MAX_COUNTED}) AS counted`;

/** Receipts that a settlement is just taking are left to it. */
async function dropParked(
  session: Session,
  { most, limit }: Parameters<ReceiptStore["dropParked"]>[0],
): Promise<readonly DroppedReceipts[]> {
  const found = await session.query<{ connector_id: string; rows: number }>(TOO_MANY, [most, limit]);
  const dropped: DroppedReceipts[] = [];
  for (const { connector_id: connectorId, rows } of found) {
    const gone = await session.query<{ is_first: boolean }>(DROP, [connectorId, rows]);
    const receipts = gone.filter((row) => row.is_first).length;
    if (receipts > 0) dropped.push({ connectorId, receipts });
  }
  return dropped;
}

/** Steps from connector to connector by the index, and counts each only as far as it matters. */
const TOO_MANY = `WITH RECURSIVE connectors AS (
    (SELECT connector_id FROM parked_receipts ORDER BY connector_id LIMIT 1)
    UNION ALL
    SELECT (SELECT p.connector_id FROM parked_receipts p WHERE p.connector_id > c.connector_id
      ORDER BY p.connector_id LIMIT 1)
    FROM connectors c WHERE c.connector_id IS NOT NULL
  )
  SELECT c.connector_id, counted.rows - $1 AS rows FROM connectors c, LATERAL (
    SELECT count(*) AS rows FROM (
      SELECT 1 FROM parked_receipts p WHERE p.connector_id = c.connector_id LIMIT $1::bigint + $2::bigint
    ) AS first_ones
  ) AS counted WHERE counted.rows > $1 ORDER BY c.connector_id`;

const DROP = `DELETE FROM parked_receipts WHERE id = ANY(ARRAY(
    SELECT id FROM parked_receipts WHERE connector_id = $1 ORDER BY id LIMIT $2 FOR UPDATE SKIP LOCKED
  )) RETURNING ${IS_FIRST_ROW} AS is_first`;
