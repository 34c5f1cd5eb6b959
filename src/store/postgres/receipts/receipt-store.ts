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

/** `Store.receipts`. Receipts that come together share a commit. */
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
      : await session.query<ParkedRow>(ofConnector, [last, limit, connectorId, looksOf(limit)]);
  return rows.map(({ id, receipt }) => ({ id: String(id), receipt: JSON.parse(receipt) as Receipt }));
}

interface ParkedRow {
  readonly id: number;
  readonly receipt: string;
}

/** How many rows of all connectors to look through for those of one. */
const looksOf = (limit: number) => Math.max(1_000, 10 * limit);

const WAYS = {
  oldest: { isBeyond: "> $1", order: "", last: "> (SELECT max(id) FROM looked)" },
  newest: { isBeyond: "< $1", order: "DESC", last: "< (SELECT min(id) FROM looked)" },
} as const satisfies Record<ListOrder, unknown>;

const allSql = ({ isBeyond, order }: (typeof WAYS)[ListOrder]) => `SELECT id, receipt FROM parked_receipts
  WHERE id ${isBeyond} AND ${IS_FIRST_ROW} ORDER BY id ${order} LIMIT $2`;

/**
 * Receipts of a connector that has many are among the next ones of all connectors. If too few are, the connector has few, or others have
 * a great many: then this looks through all of its own. `id + 0` leaves the planner no choice, which without statistics would always
 * take the second way.
 */
const ofConnectorSql = ({ isBeyond, order, last }: (typeof WAYS)[ListOrder]) => `WITH looked AS MATERIALIZED (
    SELECT * FROM parked_receipts WHERE id ${isBeyond} ORDER BY id ${order} LIMIT $4
  )
  (SELECT id, receipt FROM looked WHERE connector_id = $3 AND ${IS_FIRST_ROW} ORDER BY id ${order})
  UNION ALL
  (SELECT id, receipt FROM parked_receipts
    WHERE connector_id = $3 AND ${IS_FIRST_ROW} AND id + 0 ${last} AND (SELECT count(*) FROM looked) = $4
    ORDER BY id + 0 ${order} LIMIT $2)
  LIMIT $2`;

const listsOf = (order: ListOrder) => ({
  all: allSql(WAYS[order]),
  ofConnector: ofConnectorSql(WAYS[order]),
});

const LISTS = { oldest: listsOf("oldest"), newest: listsOf("newest") };

async function countParked(session: Session): Promise<number> {
  const [row] = await session.query<{ count: number }>(COUNT);
  return row?.count ?? 0;
}

const COUNT = `SELECT count(*) AS count
  FROM (SELECT 1 FROM parked_receipts WHERE ${IS_FIRST_ROW} LIMIT ${MAX_COUNTED}) AS counted`;

/** Skips receipts that a settlement is taking. */
async function dropParked(
  session: Session,
  { most, limit }: Parameters<ReceiptStore["dropParked"]>[0],
): Promise<readonly DroppedReceipts[]> {
  const found = await session.query<{ connector_id: string; rows: number }>(TOO_MANY, [most, limit]);
  const dropped: DroppedReceipts[] = [];
  for (const { connector_id: connectorId, rows } of found) {
    const gone = await dropOldest(session, connectorId, rows);
    const receipts = gone.filter((row) => row.is_first).length;
    if (receipts > 0) dropped.push({ connectorId, receipts });
  }
  return dropped;
}

interface DroppedRow {
  readonly is_first: boolean;
}

/**
 * The oldest rows of a connector that has a great many are mostly among the oldest of all. If others have as many that are older,
 * this looks through the connector's own.
 */
async function dropOldest(
  session: Session,
  connectorId: string,
  rows: number,
): Promise<readonly DroppedRow[]> {
  const dropped = await session.query<DroppedRow>(DROP.amongOldest, [
    connectorId,
    rows,
    LOOKS_PER_ROW * rows,
  ]);
  const left = rows - dropped.length;
  if (left === 0) return dropped;
  return [...dropped, ...(await session.query<DroppedRow>(DROP.amongOwn, [connectorId, left]))];
}

const LOOKS_PER_ROW = 10;

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

const dropSql = (condition: string, order: string) => `DELETE FROM parked_receipts WHERE id = ANY(ARRAY(
    SELECT id FROM parked_receipts WHERE ${condition} ORDER BY ${order} LIMIT $2 FOR UPDATE SKIP LOCKED
  )) RETURNING ${IS_FIRST_ROW} AS is_first`;

/** `|| ''` and `+ 0`: without statistics the planner would sort all rows of the connector; with them, it may read all rows of others. */
const DROP = {
  amongOldest: dropSql(
    `connector_id || '' = $1
      AND id <= (SELECT max(id) FROM (SELECT id FROM parked_receipts ORDER BY id LIMIT $3) AS oldest)`,
    "id",
  ),
  amongOwn: dropSql("connector_id = $1", "id + 0"),
};
