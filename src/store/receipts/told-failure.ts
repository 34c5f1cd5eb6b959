import { saysNotDelivered } from "../../core/messages/copies.ts";
import type { Receipt } from "../../core/messages/outcome.ts";
import { isSettled } from "../../core/messages/progress.ts";
import type { Step } from "../../core/messages/step.ts";

/**
 * A failure by our own id that was parked, and has since ended its message as an early failure (`early-failure.ts`). Its parked
 * rows are to be deleted: the timeline tells of it, so no list may show it as a receipt that matches nothing.
 */
export interface ToldFailure {
  readonly messageId: string;
  readonly connectorId: string;
}

/** The failures that a step has applied, if it has ended the message: until then, they may be about another connector's copy. */
export function toldFailures(
  messageId: string,
  { progress, alsoParkedAt = [] }: Step,
): readonly ToldFailure[] {
  if (alsoParkedAt.length === 0 || !isSettled(progress)) return [];
  return [...new Set(alsoParkedAt)].map((connectorId) => ({ messageId, connectorId }));
}

/** Whether a parked receipt is this failure. */
export function isToldFailure(receipt: Receipt, { messageId, connectorId }: ToldFailure): boolean {
  const isOfMessage = receipt.isOwnId === true && receipt.providerMessageId === messageId;
  return isOfMessage && receipt.connectorId === connectorId && saysNotDelivered(receipt);
}
