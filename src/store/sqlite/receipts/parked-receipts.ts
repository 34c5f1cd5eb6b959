import type { Receipt } from "../../../core/messages/outcome.ts";
import { foldId } from "../../../core/receipts/provider-id.ts";
import { isSameNumber } from "../../../core/receipts/same-number.ts";
import {
  isAboutIds,
  keysOfIds,
  MAX_PARKED_PER_ID,
  MAX_PER_REFERENCE,
  type ParkedReceipts,
} from "../../receipts/receipt-state.ts";
import type { Database } from "../database/database.ts";
import { oncePerTransaction } from "../database/once-per-transaction.ts";

/** The rows of `parked_receipts`. Usually there are none, which is asked once per transaction. */
export function createParkedReceipts(db: Database): ParkedReceipts {
  const insert = db.prepare(
    "INSERT INTO parked_receipts (connector_id, id_key, reference, at, receipt) VALUES (?, ?, ?, ?, ?)",
  );
  const tooMany = db.prepare<{ id: number }>(
    `SELECT id FROM parked_receipts WHERE connector_id = +? AND id_key = +?
     ORDER BY id DESC LIMIT 1 OFFSET ${MAX_PARKED_PER_ID}`,
  );
  const byKey = db.prepare<ParkedRow>(
    "SELECT id, receipt FROM parked_receipts WHERE connector_id = +? AND id_key = +? ORDER BY id",
  );
  const byReference = db.prepare<ParkedRow>(
    `SELECT id, receipt FROM parked_receipts WHERE reference = ?1 AND connector_id = coalesce(?2, connector_id)
     ORDER BY id LIMIT ${MAX_PER_REFERENCE}`,
  );
  const remove = db.prepare("DELETE FROM parked_receipts WHERE id = ?");
  const any = db.prepare("SELECT 1 FROM parked_receipts LIMIT 1");
  const isAnyParked = oncePerTransaction(db, () => any.get() !== undefined);
  const take = (rows: readonly ParkedRow[], isMeant: (receipt: Receipt) => boolean) => {
    const meant = rows.map(read).filter(({ receipt }) => isMeant(receipt));
    for (const { id } of meant) remove.run(id);
    return meant.map(({ receipt }) => receipt);
  };

  return {
    park(receipt) {
      const { connectorId, providerMessageId, reference, receivedAt } = receipt;
      const key = foldId(providerMessageId);
      insert.run(connectorId, key, reference ?? null, receivedAt, JSON.stringify(receipt));
      isAnyParked.forget();
      const oldest = tooMany.get(connectorId, key);
      if (oldest) remove.run(oldest.id);
    },
    takeByIds(part) {
      if (!isAnyParked.get()) return [];
      const isMeant = isAboutIds(part);
      return keysOfIds(part.ids).flatMap((key) => take(byKey.all(part.connectorId, key), isMeant));
    },
    takeByReference: ({ reference, connectorId, recipient }) =>
      take(
        byReference.all(reference, connectorId ?? null),
        (receipt) => isSameNumber(recipient, receipt.recipient) === true,
      ),
  };
}

interface ParkedRow {
  readonly id: number;
  readonly receipt: string;
}

function read({ id, receipt }: ParkedRow): { readonly id: number; readonly receipt: Receipt } {
  return { id, receipt: JSON.parse(receipt) as Receipt };
}
