import type { Receipt } from "../../../core/messages/outcome.ts";
import {
  isAboutIds,
  isAboutReference,
  keysOfIds,
  keysOfParked,
  MAX_PARKED_PER_ID,
  SECOND_ROW,
} from "../../receipts/parked-keys.ts";
import { MAX_PER_REFERENCE, type ParkedReceipts } from "../../receipts/receipt-state.ts";
import type { Database } from "../database/database.ts";
import { oncePerTransaction } from "../database/once-per-transaction.ts";

/** The rows of `parked_receipts`. Usually there are none, which is asked once per transaction. */
export function createParkedReceipts(db: Database): ParkedReceipts {
  const insert = createInsert(db);
  const byKey = db.prepare<ParkedRow>(
    "SELECT id, receipt FROM parked_receipts WHERE connector_id = +? AND id_key = +? ORDER BY id",
  );
  const byReference = db.prepare<ParkedRow>(
    `SELECT id, receipt FROM parked_receipts WHERE reference = ?1 AND connector_id = coalesce(?2, connector_id)
     ORDER BY id LIMIT ${MAX_PER_REFERENCE}`,
  );
  const any = db.prepare("SELECT 1 FROM parked_receipts LIMIT 1");
  const isAnyParked = oncePerTransaction(db, () => any.get() !== undefined);
  const { take, putBack } = createTake(db);
  const keepNewest = createKeepNewest(db);

  return {
    park(receipt) {
      isAnyParked.forget();
      if (putBack(receipt)) return;
      const { connectorId, reference = null, receivedAt } = receipt;
      const text = JSON.stringify(receipt);
      keysOfParked(receipt).forEach((key, row) => {
        insert(connectorId, key, row === 0 ? reference : SECOND_ROW, receivedAt, text);
        keepNewest(connectorId, key);
      });
    },
    takeByIds(part) {
      if (!isAnyParked.get()) return [];
      const isMeant = isAboutIds(part);
      return keysOfIds(part.ids).flatMap((key) => take(byKey.all(part.connectorId, key), isMeant));
    },
    takeByReference: (sent) =>
      take(byReference.all(sent.reference, sent.connectorId ?? null), isAboutReference(sent)),
  };
}

/** Inserts rows. While the process runs no id is reused, even if the highest are gone, since readers note how far they have come. */
function createInsert(db: Database) {
  const insert = db.prepare<{ id: number }>(
    `INSERT INTO parked_receipts (id, connector_id, id_key, reference, at, receipt)
     VALUES (1 + max(?, (SELECT coalesce(max(id), 0) FROM parked_receipts)), ?, ?, ?, ?, ?) RETURNING id`,
  );
  let last = 0;
  return (...values: readonly [string, string, number | null, number, string]): void => {
    last = insert.get(last, ...values)?.id ?? last;
  };
}

/** Deletes the oldest row of a key that has one too many. If that was a receipt's first row, its row under another id becomes the first. */
function createKeepNewest(db: Database) {
  const tooMany = db.prepare<ParkedRow>(
    `SELECT id, receipt FROM parked_receipts WHERE connector_id = +? AND id_key = +?
     ORDER BY id DESC LIMIT 1 OFFSET ${MAX_PARKED_PER_ID}`,
  );
  const remove = db.prepare("DELETE FROM parked_receipts WHERE id = ?");
  const makeFirst = db.prepare(
    `UPDATE parked_receipts SET reference = ? WHERE id =
       (SELECT id FROM parked_receipts
        WHERE connector_id = +? AND id_key = +? AND receipt = ? AND +reference = ${SECOND_ROW} ORDER BY id LIMIT 1)`,
  );
  return (connectorId: string, key: string): void => {
    const oldest = tooMany.get(connectorId, key);
    if (!oldest) return;
    remove.run(oldest.id);
    const { receipt, text } = read(oldest);
    const [first, other] = keysOfParked(receipt);
    if (key === first && other !== undefined)
      makeFirst.run(receipt.reference ?? null, connectorId, other, text);
  };
}

/**
 * `take` deletes the rows that are meant, together with those of the same receipts under other ids, and returns the receipts.
 * `putBack` restores the rows of a taken receipt that is parked again, and so its place; `false` if it was not taken.
 */
function createTake(db: Database) {
  const remove = db.prepare<TakenRow>("DELETE FROM parked_receipts WHERE id = ? RETURNING *");
  const removeSame = db.prepare<TakenRow>(
    "DELETE FROM parked_receipts WHERE connector_id = +? AND id_key = +? AND receipt = ? RETURNING *",
  );
  const insert = db.prepare(
    "INSERT INTO parked_receipts (id, connector_id, id_key, reference, at, receipt) VALUES (?, ?, ?, ?, ?, ?)",
  );
  const taken = new WeakMap<Receipt, readonly TakenRow[]>();
  const take = (rows: readonly ParkedRow[], isMeant: (receipt: Receipt) => boolean): readonly Receipt[] => {
    const meant = rows.map(read).filter(({ receipt }) => isMeant(receipt));
    for (const { id, receipt, text } of meant) {
      const others = receipt.otherId === undefined ? [] : keysOfParked(receipt);
      const same = others.flatMap((key) => removeSame.all(receipt.connectorId, key, text));
      taken.set(receipt, [...remove.all(id), ...same]);
    }
    return meant.map(({ receipt }) => receipt);
  };
  const putBack = (receipt: Receipt): boolean => {
    const rows = taken.get(receipt);
    for (const { id, connector_id, id_key, reference, at, receipt: text } of rows ?? [])
      insert.run(id, connector_id, id_key, reference, at, text);
    return rows !== undefined;
  };
  return { take, putBack };
}

interface TakenRow extends ParkedRow {
  readonly connector_id: string;
  readonly id_key: string;
  readonly reference: number | null;
  readonly at: number;
}

interface ParkedRow {
  readonly id: number;
  readonly receipt: string;
}

function read({ id, receipt: text }: ParkedRow) {
  return { id, text, receipt: JSON.parse(text) as Receipt };
}
