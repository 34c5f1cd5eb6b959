import { isAboutOtherCopy } from "../../core/messages/copies.ts";
import type { Receipt } from "../../core/messages/outcome.ts";
import { isOpen } from "../../core/messages/part.ts";
import { isSettled } from "../../core/messages/progress.ts";
import { applyLateAnswer, type LateAnswer } from "../../core/receipts/late-answer.ts";
import type { Match } from "./match-receipt.ts";
import type { KnownMessage, ReceiptState } from "./receipt-state.ts";

/**
 * A receipt with a part's reference proves that the provider has the part, under the receipt's id. Records that id, and marks
 * the part as sent, unless the receipt reports a failure and another connector may have sent the part since.
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
  // The entry by which a message becomes sent shows its size. A settled message has been sent before, or never will be.
  const detail = isSettled(progress) ? {} : { ...state.sizeOf(messageId) };
  const parts = Math.max(progress.parts.length, found.part + 1);
  // The receipt only shows that there is a copy, beside the one that another connector has taken.
  const isBeside = part?.status === "sent" && receipt.status === "sent" && part.connectorId !== connectorId;
  if (!part || isBeside || (isOpen(part) && !isAboutOtherCopy(part, receipt)))
    markTaken(state, { ...answer, parts, detail }, receivedAt);
  return { ...found, message: state.messages.find(messageId) ?? found.message };
}

/** Applies a late answer to the message. The caller records the ids, and applies receipts. */
export function markTaken<M extends KnownMessage>(
  { messages }: Pick<ReceiptState<M>, "messages">,
  answer: LateAnswer,
  at: number,
): void {
  const message = messages.find(answer.messageId);
  if (message) messages.save(message, applyLateAnswer(message.progress, answer, at));
}
