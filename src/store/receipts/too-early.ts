/**
 * Receipts that come too early: they report that an SMS was not delivered, while an attempt may be sending it again. They count
 * once that attempt is over.
 */
import { hasCopyAt, isAboutOtherCopy, saysNotDelivered } from "../../core/messages/copies.ts";
import { keepEarlyFailure } from "../../core/messages/early-failure.ts";
import type { Progress } from "../../core/messages/message.ts";
import type { Receipt, ReceiptResult } from "../../core/messages/outcome.ts";
import { isOpen } from "../../core/messages/part.ts";
import type { Match } from "./match-receipt.ts";
import type { KnownMessage, ReceiptState } from "./receipt-state.ts";

/**
 * Whether a receipt reports that a part was not delivered, while an attempt under way may be sending it again. Applied now, it
 * would be final, though the new copy may be delivered.
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
 * The quick part of `isTooEarly`; what it leaves to ask is whether an attempt is under way. No attempt has ended before a
 * message's first timeline entry, and a message that its first attempt sent has only that entry.
 */
export function mayBeTooEarly(receipt: Receipt, { channel, status, position }: Progress): boolean {
  const mayBeUnderWay = (status === "sending" && position > 0) || (status === "sent" && position > 1);
  return channel === "sms" && mayBeUnderWay && saysNotDelivered(receipt);
}

/**
 * Keeps a receipt with its part until the attempt under way is over; its settlement applies it. `undefined`: park it. One by our
 * own id is only parked as well while nobody knows that its connector has a copy: parked, it is found by an attempt over that
 * connector alone, and the one under way may be over another, or have nothing left to send.
 */
export function keepForLater<M extends KnownMessage>(
  state: ReceiptState<M>,
  receipt: Receipt,
  { message, part, by }: Match<M>,
): ReceiptResult | undefined {
  const { id: messageId, progress } = message;
  const { connectorId, providerMessageId } = receipt;
  const known = progress.parts[part];
  if (receipt.isOwnId && !(known && hasCopyAt(known, connectorId)))
    return keepOwnForLater(state, receipt, message);
  if (by === "reference")
    state.knownIds.note({ messageId, part, connectorId, providerMessageIds: [providerMessageId] });
  state.messages.save(message, keepEarlyFailure(progress, part, { receipt, size: state.sizeOf(messageId) }));
  return { kind: "late", messageId };
}

/**
 * `keepForLater` for a receipt by our own id. It is parked as well (`undefined`), since it may be about the copy of a connector
 * that shares receipts with this one. It is also kept with the segments that only its connector may have, in case no other
 * connector takes them.
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
