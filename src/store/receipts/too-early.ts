/** Receipts that say an SMS was not delivered while an attempt may be sending it again: they count once that is over. */
import { isAboutOtherCopy, saysNotDelivered } from "../../core/messages/copies.ts";
import { keepEarlyFailure } from "../../core/messages/early-failure.ts";
import type { Progress } from "../../core/messages/message.ts";
import type { Receipt, ReceiptResult } from "../../core/messages/outcome.ts";
import { isOpen } from "../../core/messages/part.ts";
import type { Match } from "./match-receipt.ts";
import type { KnownMessage, ReceiptState } from "./receipt-state.ts";

/**
 * Whether a receipt says that a part was not delivered which an attempt under way may be sending again: that copy may be
 * delivered, and final states never change.
 */
export function isTooEarly<M extends KnownMessage>(
  state: ReceiptState<M>,
  receipt: Receipt,
  { message, part: index }: Match<M>,
): boolean {
  const part = message.progress.parts[index];
  const isMeant = part && !isAboutOtherCopy(part, receipt) && (isOpen(part) || part.isTakenMeanwhile);
  return mayBeTooEarly(receipt, message.progress) && isMeant === true && state.isSentAgain(message);
}

/**
 * The rest is whether an attempt is under way. Before a message's first entry none has ended, and one that was sent by its
 * first attempt has only that entry.
 */
export function mayBeTooEarly(receipt: Receipt, { channel, status, position }: Progress): boolean {
  const mayBeUnderWay = (status === "sending" && position > 0) || (status === "sent" && position > 1);
  return channel === "sms" && mayBeUnderWay && saysNotDelivered(receipt);
}

/** Until the attempt under way is over: its settlement finds it with the part. `undefined`: it is to be parked. */
export function keepForLater<M extends KnownMessage>(
  state: ReceiptState<M>,
  receipt: Receipt,
  { message, part, by }: Match<M>,
): ReceiptResult | undefined {
  if (receipt.isOwnId) return keepOwnForLater(state, receipt, message);
  const { id: messageId, progress } = message;
  const { connectorId, providerMessageId } = receipt;
  if (by === "reference")
    state.knownIds.note({ messageId, part, connectorId, providerMessageIds: [providerMessageId] });
  state.messages.save(message, keepEarlyFailure(progress, part, { receipt, size: state.sizeOf(messageId) }));
  return { kind: "late", messageId };
}

/**
 * One by our id is parked as well, since it may be about the copy of a connector that shares receipts with this one. With the
 * segments that its connector may have, and no other, it is kept for the case that none takes them.
 */
export function keepOwnForLater<M extends KnownMessage>(
  state: ReceiptState<M>,
  receipt: Receipt,
  message: M,
): undefined {
  const { id, progress: before } = message;
  const kept = before.parts.reduce((progress, part, index) => {
    const isMeant = part.status === "unconfirmed" && !isAboutOtherCopy(part, receipt);
    return isMeant
      ? keepEarlyFailure(progress, index, { receipt, size: state.sizeOf(id) }).progress
      : progress;
  }, before);
  if (kept !== before) state.messages.save(message, { progress: kept, entries: [] });
}
