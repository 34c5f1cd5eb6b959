import type { ReceiptResult, Settlement } from "../../core/claimed-job.ts";
import type { Part } from "../../core/message.ts";
import type { Receipt } from "../../core/outcome.ts";
import { applyReceipt } from "../../core/progress.ts";
import type { Database } from "./database.ts";
import type { MessageLog } from "./message-log.ts";
import { type MessageRow, toProgress } from "./rows.ts";
import type { SuppressionBook } from "./suppression-book.ts";

/** Parked for one id at the most; a provider that repeats itself must not fill the disk. */
const MAX_PARKED = 8;

/**
 * Which message a provider's id stands for. Settlement and receipt upsert the same row: whichever comes second
 * finds what the first left there, and applies the receipt. Inside a transaction.
 */
export interface ProviderIds {
  /** Records the ids an attempt brought home, and applies the receipts that were parked under them. */
  claimAll(settlement: Settlement): void;
  /** Applies a receipt, or parks it. */
  receive(receipt: Receipt): ReceiptResult;
}

export function createProviderIds(
  db: Database,
  parts: { readonly messages: MessageLog; readonly suppressions: SuppressionBook },
): ProviderIds {
  const find = db.prepare<ProviderRow>(
    "SELECT message_id, part, receipts FROM provider_ids WHERE connector_id = ? AND provider_id = ?",
  );
  // An id that is given out again stands for the newer message.
  const upsert = db.prepare<{ receipts: string | null }>(
    `INSERT INTO provider_ids (connector_id, provider_id, message_id, part, at) VALUES (?, ?, ?, ?, ?)
     ON CONFLICT (connector_id, provider_id) DO UPDATE
       SET message_id = excluded.message_id, part = excluded.part, at = excluded.at
       WHERE message_id IS NULL OR message_id < excluded.message_id
     RETURNING receipts`,
  );
  const unpark = db.prepare(
    "UPDATE provider_ids SET receipts = NULL WHERE connector_id = ? AND provider_id = ?",
  );
  const park = db.prepare(
    `INSERT INTO provider_ids (connector_id, provider_id, receipts, at) VALUES (?, ?, ?, ?)
     ON CONFLICT (connector_id, provider_id) DO UPDATE SET receipts = excluded.receipts, at = excluded.at`,
  );

  return {
    claimAll({ connectorId, outcomes, messageId, at }) {
      if (connectorId === undefined) return;
      outcomes.forEach((outcome, part) => {
        if (outcome?.kind !== "sent") return;
        for (const providerId of outcome.providerMessageIds) {
          const parked = upsert.get(connectorId, providerId, messageId, part, at)?.receipts ?? null;
          if (parked === null) continue;
          unpark.run(connectorId, providerId);
          for (const receipt of toReceipts(parked)) apply(parts, receipt, { messageId, part });
        }
      });
    },
    receive(receipt) {
      const { connectorId, providerMessageId, receivedAt, target } = receipt;
      if (target) return apply(parts, receipt, target);
      const row = find.get(connectorId, providerMessageId);
      if (row && row.message_id !== null) {
        return apply(parts, receipt, { messageId: row.message_id, part: row.part ?? 0 });
      }
      const parked = [...toReceipts(row?.receipts ?? null), receipt].slice(-MAX_PARKED);
      park.run(connectorId, providerMessageId, JSON.stringify(parked), receivedAt);
      return { kind: "parked" };
    },
  };
}

interface ProviderRow {
  readonly message_id: string | null;
  readonly part: number | null;
  readonly receipts: string | null;
}

function toReceipts(text: string | null): readonly Receipt[] {
  return text === null ? [] : (JSON.parse(text) as Receipt[]);
}

interface Books {
  readonly messages: MessageLog;
  readonly suppressions: SuppressionBook;
}

function apply(
  { messages, suppressions }: Books,
  receipt: Receipt,
  at: { readonly messageId: string; readonly part?: number },
): ReceiptResult {
  const row = messages.find(at.messageId);
  if (!row) return { kind: receipt.target ? "unknown" : "late", messageId: at.messageId };
  let progress = toProgress(row);
  let isLate = true;
  const indexes = receipt.target
    ? partsNamed(progress.parts, receipt)
    : partsOf(progress.parts, receipt, at.part ?? 0);
  if (receipt.target && indexes.length === 0) return { kind: "unknown", messageId: at.messageId };
  for (const index of indexes) {
    const step = applyReceipt(progress, index, receipt);
    progress = step.progress;
    isLate &&= step.isLate;
    if (step.entries.length > 0) messages.save(at.messageId, step);
    learn(suppressions, row, { receipt, email: progress.parts[index]?.address });
  }
  return { kind: isLate ? "late" : "applied", messageId: at.messageId, status: progress.status };
}

/** The suppression list learns from late words as well: they are as true. */
function learn(
  suppressions: SuppressionBook,
  row: MessageRow,
  { receipt, email }: { readonly receipt: Receipt; readonly email: string | undefined },
): void {
  const { suppress: reason, status, receivedAt: at } = receipt;
  if (email === undefined) return;
  if (reason) suppressions.learn(row, { email, reason, at });
  else if (status === "delivered") suppressions.forgive(row, email);
}

/** The part that the receipt names itself, by its index or by the address. */
function partsNamed(parts: readonly Part[], { target, recipient = "" }: Receipt): readonly number[] {
  const wanted = recipient.toLowerCase();
  return [...parts.keys()].filter((index) =>
    target?.part === undefined ? parts[index]?.address?.toLowerCase() === wanted : index === target.part,
  );
}

/** One id may stand for several recipients of one envelope; the part that was noted counts where none says so. */
function partsOf(parts: readonly Part[], receipt: Receipt, noted: number): readonly number[] {
  const named = parts.flatMap((part, index) =>
    part.connectorId === receipt.connectorId && part.providerMessageId === receipt.providerMessageId
      ? [index]
      : [],
  );
  return named.length > 0 ? named : [noted];
}
