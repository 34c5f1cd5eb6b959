import { saysNotDelivered } from "../../core/messages/copies.ts";
import type { Receipt } from "../../core/messages/outcome.ts";
import { isSettled } from "../../core/messages/progress.ts";
import type { Step } from "../../core/messages/step.ts";

/**
 * Rows of a parked failure by our id that has ended its message meanwhile: the timeline has it, and no list is to show that nobody
 * knows what it is about.
 */
export interface ToldFailure {
  readonly messageId: string;
  readonly connectorId: string;
}

/** Those that a step has told, if it has ended the message: before, it may be about another connector's copy. */
export function toldFailures(
  messageId: string,
  { progress, alsoParkedAt = [] }: Step,
): readonly ToldFailure[] {
  if (alsoParkedAt.length === 0 || !isSettled(progress)) return [];
  return [...new Set(alsoParkedAt)].map((connectorId) => ({ messageId, connectorId }));
}

/** Whether a parked receipt is such a failure. */
export function isToldFailure(receipt: Receipt, { messageId, connectorId }: ToldFailure): boolean {
  const isOfMessage = receipt.isOwnId === true && receipt.providerMessageId === messageId;
  return isOfMessage && receipt.connectorId === connectorId && saysNotDelivered(receipt);
}
