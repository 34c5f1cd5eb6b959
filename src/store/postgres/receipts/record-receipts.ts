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

/** Weight of a receipt in a group: it takes a lock or two, and writes several rows. */
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
 * A receipt that the sandbox owed is owed no more. Gives those that were not owed any more: the simulators of two processes
 * may find the same debt, and a good provider tells a receipt once.
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

/** The names of the receipts are locked, so what another process has told is seen; what this statement clears is not. */
const CLEAR_DEBTS = `WITH cleared AS (
    UPDATE sandbox_messages SET receipt_at = NULL WHERE id = ANY($1) AND receipt_at IS NOT NULL)
  SELECT id, message_id FROM sandbox_messages WHERE id = ANY($1) AND receipt IS NOT NULL AND receipt_at IS NULL`;
