import type { Receipt, ReceiptResult } from "../../../core/messages/outcome.ts";
import type { ReceiptStore } from "../../store.ts";
import type { Session } from "../database/driver.ts";
import { createListCommit } from "../database/group-commit.ts";
import type { ErasedNames } from "../erasures/erased-names.ts";
import type { MessageChanges } from "../messages/message-log.ts";
import { beginReceipts } from "./begin-receipts.ts";

export interface RecordReceiptParts {
  readonly changes: MessageChanges;
  readonly erasedNames: ErasedNames;
}

/** The weight of a receipt in a group commit: it takes a lock or two, and writes several rows. */
const WEIGHT = 8;

/** `ReceiptStore.record`: the calls of one turn of the event loop share a transaction with a fixed number of statements. */
export function createRecordReceipts({ changes, erasedNames }: RecordReceiptParts): ReceiptStore["record"] {
  const record = (receipts: readonly Receipt[]) =>
    changes(async (session, log) => {
      const begun = await beginReceipts(session, { receipts }, erasedNames);
      await log.lock(begun.messageIds);
      const { providerIds, write } = await begun.open(log);
      const told = await clearDebts(session, receipts);
      const results = receipts.map(
        (receipt) => told.get(receipt.providerMessageId) ?? providerIds.receive(receipt),
      );
      await write();
      return results;
    });
  return createListCommit(record, WEIGHT);
}

/**
 * Notes that the sandbox no longer owes these receipts. Returns a result for each that it did not owe any more: the simulators of
 * two processes may find the same debt, and a good provider tells a receipt once.
 */
async function clearDebts(
  session: Session,
  receipts: readonly Receipt[],
): Promise<ReadonlyMap<string, ReceiptResult>> {
  const rows = await session.query<{ id: string; message_id: string }>(CLEAR_DEBTS, [
    receipts.map(({ providerMessageId }) => providerMessageId),
  ]);
  return new Map(rows.map(({ id, message_id: messageId }) => [id, { kind: "late", messageId }]));
}

/** Sees what another process has cleared, since the names of the receipts are locked, but not what this statement clears. */
const CLEAR_DEBTS = `WITH cleared AS (
    UPDATE sandbox_messages SET receipt_at = NULL WHERE id = ANY($1) AND receipt_at IS NOT NULL)
  SELECT id, message_id FROM sandbox_messages WHERE id = ANY($1) AND receipt IS NOT NULL AND receipt_at IS NULL`;
