import { isAboutOtherCopy } from "../../core/messages/copies.ts";
import type { Receipt } from "../../core/messages/outcome.ts";
import { isOpen } from "../../core/messages/part.ts";
import { isSettled } from "../../core/messages/progress.ts";
import { applyLateAnswer, type LateAnswer } from "../../core/receipts/late-answer.ts";
import type { Match } from "./match-receipt.ts";
import type { KnownMessage, ReceiptState } from "./receipt-state.ts";

/**
 * Marks a part as sent, since a receipt names it by its reference: the provider has it, under the receipt's id. Not where that
 * one has failed and another connector may have sent the part since.
 */
export function markSent<M extends KnownMessage>(
  state: ReceiptState<M>,
  found: Match<M>,
  receipt: Receipt,
): Match<M> {
  const { id: messageId, progress } = found.message;
  const { connectorId, providerMessageId, receivedAt } = receipt;
  const answer = { messageId, part: found.part, connectorId, providerMessageIds: [providerMessageId] };
  const awaitedSince = receipt.status === "sent" ? receivedAt : undefined;
  state.knownIds.note({ ...answer, awaitedSince });
  const part = progress.parts[found.part];
  // The size is told where a message becomes sent. One that is settled has been sent, or never will be.
  const detail = isSettled(progress) ? {} : { ...state.sizeOf(messageId) };
  const parts = Math.max(progress.parts.length, found.part + 1);
  // Of a copy on its way beside the one that another connector has taken, it is only known that it is there.
  const isBeside = part?.status === "sent" && receipt.status === "sent" && part.connectorId !== connectorId;
  if (!part || isBeside || (isOpen(part) && !isAboutOtherCopy(part, receipt)))
    markTaken(state, { ...answer, parts, detail }, receivedAt);
  return { ...found, message: state.messages.find(messageId) ?? found.message };
}

/** Moves the message only: ids are recorded, and receipts applied, by the caller. */
export function markTaken<M extends KnownMessage>(
  { messages }: Pick<ReceiptState<M>, "messages">,
  answer: LateAnswer,
  at: number,
): void {
  const message = messages.find(answer.messageId);
  if (message) messages.save(message, applyLateAnswer(message.progress, answer, at));
}
