import type { ReceiptResult } from "../../core/claimed-job.ts";
import type { Part, TimelineEntry } from "../../core/message.ts";
import type { Receipt } from "../../core/outcome.ts";
import { applyReceipt } from "../../core/progress.ts";
import { type MessageRow, toProgress } from "../message-rows.ts";
import type { KnownIds } from "./known-ids.ts";
import type { Match } from "./match-receipt.ts";
import type { MessageLog } from "./message-log.ts";
import type { SizeOf } from "./sms-size.ts";
import type { SuppressionBook } from "./suppression-book.ts";

export interface Books {
  readonly messages: MessageLog;
  readonly suppressions: SuppressionBook;
  readonly knownIds: KnownIds;
  readonly sizeOf: SizeOf;
}

/** Moves the part that a receipt was matched with, inside a transaction. */
export function applyToMatch(books: Books, receipt: Receipt, { part, ...match }: Match): ReceiptResult {
  return apply(books, receipt, { ...match, indexes: partsOf(match.progress.parts, receipt, part) });
}

/** Moves the part that a receipt names itself. */
export function applyToTarget(
  books: Books,
  receipt: Receipt,
  target: NonNullable<Receipt["target"]>,
): ReceiptResult {
  const { messageId } = target;
  const message = books.messages.find(messageId);
  const progress = message && toProgress(message);
  const indexes = progress ? partsNamed(progress.parts, receipt) : [];
  if (!progress || indexes.length === 0) return { kind: "unknown", messageId };
  return apply(books, receipt, { message, progress, indexes, by: "id" });
}

interface Application extends Omit<Match, "part"> {
  readonly indexes: readonly number[];
}

function apply(
  books: Books,
  receipt: Receipt,
  { message, progress: before, indexes, by }: Application,
): ReceiptResult {
  const { messages, suppressions, knownIds } = books;
  let progress = before;
  let isLate = true;
  for (const part of indexes) {
    const step = applyReceipt(progress, part, receipt);
    progress = step.progress;
    isLate &&= step.isLate;
    const entries = step.entries.map((entry) => completed(books, message.id, explained(entry, by)));
    if (entries.length > 0) messages.save(message, { progress, entries });
    if (receipt.status !== "sent") knownIds.received({ messageId: message.id, part });
    learn(suppressions, message, { receipt, email: progress.parts[part]?.address });
  }
  return { kind: isLate ? "late" : "applied", messageId: message.id, status: progress.status };
}

/** For operators: the id alone did not do it. */
function explained(entry: TimelineEntry, by: Match["by"]): TimelineEntry {
  return by === "id" ? entry : { ...entry, detail: { ...entry.detail, matched_by: by } };
}

/** A receipt that is the first to say that an SMS was sent does not know its size; the attempt does. */
function completed({ sizeOf }: Books, messageId: string, entry: TimelineEntry): TimelineEntry {
  if (entry.eventType !== "sms.sent") return entry;
  return { ...entry, detail: { ...sizeOf(messageId), ...entry.detail } };
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

/** One id may stand for several recipients of one envelope; the part that was matched counts where none says so. */
function partsOf(parts: readonly Part[], receipt: Receipt, matched: number): readonly number[] {
  const named = parts.flatMap((part, index) =>
    part.connectorId === receipt.connectorId && part.providerMessageId === receipt.providerMessageId
      ? [index]
      : [],
  );
  return named.length > 0 ? named : [matched];
}
