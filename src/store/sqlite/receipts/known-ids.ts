import type { PartRef } from "../../../core/messages/outcome.ts";
import { type NewIdRow, toIdRows } from "../../receipts/id-rows.ts";
import { overdueRowsOf } from "../../receipts/overdue-row.ts";
import {
  byMessageAndPart,
  type KnownId,
  type KnownIds,
  MAX_SHARED_IDS,
} from "../../receipts/receipt-state.ts";
import type { Database } from "../database/database.ts";
import type { SqlValue } from "../database/driver.ts";
import { createRowInsert } from "../database/row-insert.ts";
import { createAwaitInstead } from "./await-instead.ts";

/** `KnownIds` on SQLite. Ids are written at the end of the transaction: by then their receipts may have come. */
export function createKnownIds(db: Database): KnownIds {
  const find = db.prepare<IdRow>(
    `SELECT message_id, part, provider_id FROM provider_ids
     WHERE connector_id = +? AND id_key = +? ORDER BY message_id DESC, part DESC LIMIT ${MAX_SHARED_IDS}`,
  );
  const received = db.prepare(
    `UPDATE provider_ids SET awaited_since = NULL
     WHERE message_id = ? AND part = ? AND awaited_since IS NOT NULL`,
  );
  const notOverdue = db.prepare("DELETE FROM overdue_receipts WHERE message_id = ? AND part IN (?, ?)");
  const unwritten = createUnwritten(db);

  return {
    note: (ids) => toIdRows(ids).forEach(unwritten.add),
    find(connectorId, key) {
      const rows = find.all(connectorId, key).map((row) => toKnownId(row, key));
      const isNew = ({ messageId, part }: PartRef) =>
        !rows.some((row) => row.messageId === messageId && row.part === part);
      // Sorted, since the index, which is read backwards, returns the parts of a message in reverse.
      return [...rows, ...unwritten.find(connectorId, key).filter(isNew)].sort(byMessageAndPart);
    },
    received(part) {
      if (!unwritten.received(part)) received.run(part.messageId, part.part);
      // Even if an unwritten id awaited it: an earlier id of the part may be overdue.
      notOverdue.run(part.messageId, ...overdueRowsOf(part.part));
    },
    awaitInstead: createAwaitInstead(db),
  };
}

/** The ids that the transaction has noted and not written yet. */
function createUnwritten(db: Database) {
  const insert = createIdInsert(db);
  const byKey = new Map<string, NewIdRow[]>();
  /** The ids whose receipts are awaited, by part. */
  const awaited = new Map<string, NewIdRow>();
  const arrived = new Set<NewIdRow>();

  const forget = () => {
    byKey.clear();
    awaited.clear();
    arrived.clear();
  };
  db.beforeEnd(() => {
    if (byKey.size === 0) return;
    insert([...byKey.values()].flat(), arrived);
    forget();
  });
  db.onRollback(forget);
  return {
    add(row: NewIdRow): void {
      const name = `${row.connectorId} ${row.key}`;
      const others = byKey.get(name);
      if (others) others.push(row);
      else byKey.set(name, [row]);
      if (row.awaitedSince !== null) awaited.set(`${row.messageId} ${row.part}`, row);
    },
    find: (connectorId: string, key: string): readonly KnownId[] =>
      (byKey.get(`${connectorId} ${key}`) ?? []).map((row) => ({
        ...row,
        providerId: row.providerId ?? key,
      })),
    /** Notes that the part's receipt has come. True if one of these ids awaited it. */
    received({ messageId, part }: PartRef): boolean {
      const row = awaited.get(`${messageId} ${part}`);
      if (row) arrived.add(row);
      return row !== undefined;
    },
  };
}

const COLUMNS = "connector_id, id_key, message_id, part, provider_id, awaited_since";

/** Writes ids. One whose receipt has arrived awaits none any more, even if an earlier row of it did. */
function createIdInsert(db: Database): (rows: readonly NewIdRow[], arrived: ReadonlySet<NewIdRow>) => void {
  const into = "provider_ids";
  const insert = createRowInsert(db, { into, columns: COLUMNS, otherwise: "ON CONFLICT DO NOTHING" });
  const insertReceived = createRowInsert(db, {
    into,
    columns: COLUMNS,
    otherwise: "ON CONFLICT DO UPDATE SET awaited_since = NULL",
  });
  return (rows, arrived) => {
    insert(rows.filter((row) => !arrived.has(row)).flatMap((row) => toValues(row, row.awaitedSince)));
    insertReceived(rows.filter((row) => arrived.has(row)).flatMap((row) => toValues(row, null)));
  };
}

function toValues(row: NewIdRow, awaitedSince: number | null): readonly SqlValue[] {
  return [row.connectorId, row.key, row.messageId, row.part, row.providerId, awaitedSince];
}

function toKnownId(row: IdRow, key: string): KnownId {
  return { messageId: row.message_id, part: row.part, providerId: row.provider_id ?? key };
}

interface IdRow {
  readonly message_id: string;
  readonly part: number;
  readonly provider_id: string | null;
}
