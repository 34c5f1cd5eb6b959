import type { ProviderIds } from "../../receipts/provider-ids.ts";
import type { ReceiptStore } from "../../store.ts";
import type { Database } from "../database/database.ts";
import { oncePerTransaction } from "../database/once-per-transaction.ts";

/** `ReceiptStore.record`. A receipt that the sandbox owed is cleared in the same transaction. */
export function createRecordReceipts(db: Database, providerIds: ProviderIds): ReceiptStore["record"] {
  const clearDebt = db.prepare(
    "UPDATE sandbox_messages SET receipt_at = NULL WHERE id = ? AND receipt_at IS NOT NULL",
  );
  const debt = db.prepare("SELECT 1 FROM sandbox_messages WHERE receipt_at IS NOT NULL LIMIT 1");
  const isInDebt = oncePerTransaction(db, () => debt.get() !== undefined);
  return (receipts) =>
    db.write(
      () =>
        receipts.map((receipt) => {
          if (isInDebt.get()) clearDebt.run(receipt.providerMessageId);
          return providerIds.receive(receipt);
        }),
      receipts.length * 2,
      // After the settlements of this transaction: an SMSC may send a receipt right after its answer.
      "last",
    );
}
