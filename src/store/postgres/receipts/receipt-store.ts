import type { Receipt } from "../../../core/messages/outcome.ts";
import type { LateAnswer } from "../../../core/receipts/late-answer.ts";
import type { ParkedReceipt, ReceiptStore } from "../../store.ts";
import type { Session } from "../database/driver.ts";
import type { ClosableDatabase } from "../database/transactions.ts";
import type { ErasedNames } from "../erasures/erased-names.ts";
import type { MessageChanges } from "../messages/message-log.ts";
import { beginReceipts } from "./begin-receipts.ts";
import { createRecordLateRefusal } from "./late-refusals.ts";
import { createOverdueReceipts } from "./overdue-receipts.ts";
import { countParked, dropParked, IS_FIRST_ROW } from "./parked-receipts.ts";
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

async function listParked(
  session: Session,
  { connectorId, after, limit }: Parameters<ReceiptStore["parked"]>[0],
): Promise<readonly ParkedReceipt[]> {
  const last = Number(after ?? 0) || 0;
  const rows =
    connectorId === undefined
      ? await session.query<ParkedRow>(LIST, [last, limit])
      : await session.query<ParkedRow>(LIST_OF_CONNECTOR, [last, limit, connectorId]);
  return rows.map(({ id, receipt }) => ({ id: String(id), receipt: JSON.parse(receipt) as Receipt }));
}

interface ParkedRow {
  readonly id: number;
  readonly receipt: string;
}

const LIST = `SELECT id, receipt FROM parked_receipts WHERE id > $1 AND ${IS_FIRST_ROW} ORDER BY id LIMIT $2`;

const LIST_OF_CONNECTOR = `SELECT id, receipt FROM parked_receipts WHERE connector_id = $3 AND id > $1 AND ${IS_FIRST_ROW}
  ORDER BY id LIMIT $2`;
