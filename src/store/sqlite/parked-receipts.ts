import type { Receipt } from "../../core/outcome.ts";
import { foldId, inOtherRadix, namedByReceipts } from "../../core/provider-id.ts";
import { isSameNumber } from "../../core/same-number.ts";
import type { Database } from "./database.ts";
import { onceATransaction } from "./once-a-transaction.ts";

/** Receipts that match nothing yet. Inside a transaction. */
export interface ParkedReceipts {
  park(receipt: Receipt): void;
  /** Takes out those about the ids of one part: as they are, or in another form where the number agrees. */
  takeByIds(claimed: {
    readonly connectorId: string;
    readonly ids: readonly string[];
    readonly recipient: string;
  }): readonly Receipt[];
  /** Takes out those that carry the reference of an unconfirmed part and go to the same number. */
  takeByReference(sent: {
    /** `undefined`: nobody knows which it was. */
    readonly connectorId: string | undefined;
    readonly reference: number;
    readonly recipient: string;
  }): readonly Receipt[];
}

/** Parked for one id at the most; a provider that repeats itself must not fill the disk. */
const MAX_PER_ID = 8;

/** Looked at for one reference: it has 16 bits, and others have it too. */
const MAX_PER_REFERENCE = 100;

export function createParkedReceipts(db: Database): ParkedReceipts {
  const insert = db.prepare(
    "INSERT INTO parked_receipts (connector_id, id_key, reference, at, receipt) VALUES (?, ?, ?, ?, ?)",
  );
  const tooMany = db.prepare<{ id: number }>(
    `SELECT id FROM parked_receipts WHERE connector_id = +? AND id_key = +?
     ORDER BY id DESC LIMIT 1 OFFSET ${MAX_PER_ID}`,
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
  const isAnyParked = onceATransaction(db, () => any.get() !== undefined);
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
    takeByIds({ connectorId, ids, recipient }) {
      if (!isAnyParked.get()) return [];
      const named = namedByReceipts(ids);
      const isMeant = (receipt: Receipt) =>
        named.includes(receipt.providerMessageId) || isSameNumber(recipient, receipt.recipient) === true;
      const keys = new Set(ids.flatMap((id) => [foldId(id), ...inOtherRadix(id)]));
      return [...keys].flatMap((key) => take(byKey.all(connectorId, key), isMeant));
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
