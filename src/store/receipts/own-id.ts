/** Receipts that name the message by our own id, under which no provider's answer has been recorded. */
import { isAboutOtherCopy, isAboutUnknownCopy } from "../../core/messages/copies.ts";
import type { Part } from "../../core/messages/message.ts";
import type { Receipt, ReceiptResult } from "../../core/messages/outcome.ts";
import { isOpen } from "../../core/messages/part.ts";
import { isSettled } from "../../core/messages/progress.ts";
import { applyToMatch } from "./apply-receipt.ts";
import { markSent } from "./mark-sent.ts";
import type { KnownMessage, ReceiptState } from "./receipt-state.ts";
import { keepOwnForLater, mayBeTooEarly } from "./too-early.ts";

/** Applies such a receipt. `undefined`: it proves nothing. */
export function applyToOwn<M extends KnownMessage>(
  state: ReceiptState<M>,
  receipt: Receipt,
): ReceiptResult | undefined {
  const message = state.messages.find(receipt.providerMessageId);
  if (message?.progress.channel !== "sms" || receipt.status === "sent") return undefined;
  return isSettled(message.progress)
    ? applyToSettled(state, receipt, message)
    : applyToOpen(state, receipt, message);
}

/**
 * The message has been settled by another attempt, so the receipt counts only if its provider was handed the message at all.
 * While the message is `sent`, the failure of a copy that no part knows decides nothing: the known copy may still be delivered.
 * Such a receipt is parked, since it may be about the known copy, if its connector shares receipts with this one.
 */
function applyToSettled<M extends KnownMessage>(
  state: ReceiptState<M>,
  receipt: Receipt,
  message: M,
): ReceiptResult | undefined {
  const { status, parts } = message.progress;
  const saysNothing = status === "sent" && parts.every((part) => isAboutUnknownCopy(part, receipt));
  if (saysNothing || !state.wasHandedTo(message.id, receipt.connectorId)) return undefined;
  return applyToMatch(state, receipt, { message, part: 0, by: "id" });
}

/**
 * Applies the receipt to the parts whose attempt was never recorded, because it was interrupted, is under way, or got no
 * answer; `undefined` if there are none. A part that the provider has deferred was not taken, so a receipt is about it only if
 * it reports delivery.
 */
function applyToOpen<M extends KnownMessage>(
  state: ReceiptState<M>,
  receipt: Receipt,
  message: M,
): ReceiptResult | undefined {
  const { id: messageId } = message;
  const { parts, status: before } = message.progress;
  if (mayBeTooEarly(receipt, message.progress) && state.isSentAgain(message))
    return keepOwnForLater(state, receipt, message);
  const mayBeTaken = (part: Part) => part.status === "unconfirmed" || before === "sending" || !part.error;
  const isMeant = (part: Part) =>
    isOpen(part) &&
    (receipt.status === "delivered" || (mayBeTaken(part) && !isAboutOtherCopy(part, receipt)));
  const meant = parts.length === 0 ? [0] : parts.flatMap((part, index) => (isMeant(part) ? [index] : []));
  if (meant.length === 0) return undefined;
  for (const part of meant)
    markSent(state, { message: state.messages.find(messageId) ?? message, part, by: "reference" }, receipt);
  const sent = state.messages.find(messageId) ?? message;
  return applyToMatch(state, receipt, { message: sent, part: meant[0] ?? 0, by: "id" });
}
