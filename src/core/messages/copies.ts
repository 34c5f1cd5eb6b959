/** A segment of an SMS of which several connectors have a copy, or may have. It is delivered once any copy is. Pure. */
import { foldId } from "../receipts/provider-id.ts";
import type { Copy, Part } from "./message.ts";
import type { PartOutcome, Receipt } from "./outcome.ts";
import { afterOutcome, isOpen } from "./part.ts";

/** Whether a receipt says that an SMS will not be delivered. */
export function saysNotDelivered({ status }: Pick<Receipt, "status">): boolean {
  return status === "undelivered" || status === "expired" || status === "failed";
}

/**
 * Whether a receipt says that another copy of an SMS was not delivered than the one that the part tells of. That says nothing
 * of this one. This copy's own id tells that it is meant, over whatever connector.
 */
export function isOfOtherCopy(part: Part, receipt: Receipt): boolean {
  if (receipt.target || !saysNotDelivered(receipt)) return false;
  return part.connectorId !== undefined && !isAbout(part, receipt);
}

/** Whether it says so of neither copy that is known of. */
export function isOfNeitherCopy(part: Part, receipt: Receipt): boolean {
  return isOfOtherCopy(part, receipt) && !(part.other && isAbout(part.other, receipt));
}

function isAbout(copy: Partial<Copy>, { connectorId, providerMessageId, isOwnId }: Receipt): boolean {
  if (copy.connectorId === connectorId) return true;
  return isOwnId !== true && foldId(copy.providerMessageId ?? "") === foldId(providerMessageId);
}

/** The part once a copy of it was not delivered, where another one may be: `undefined` if there is none, so that it has failed. */
export function withoutCopy(part: Part, receipt: Receipt): Part | undefined {
  const { other, ...rest } = part;
  if (isOfNeitherCopy(part, receipt)) return part;
  if (isOfOtherCopy(part, receipt)) return rest;
  return other && part.status === "sent" ? { status: "sent", ...other } : undefined;
}

/** The id of the copy that this connector has. */
export function idAt(
  { connectorId: of, providerMessageId, other }: Part,
  connectorId: string,
): string | undefined {
  if (of === connectorId) return providerMessageId;
  return other?.connectorId === connectorId ? other.providerMessageId : undefined;
}

interface AttemptBy {
  readonly connectorId?: string | undefined;
  readonly claim?: number | undefined;
}

/** A segment that was taken, after another connector's attempt at it: that one has a later copy, or may have. */
export function withLaterCopy(part: Part, outcome: PartOutcome, by: AttemptBy): Part {
  const { status, connectorId: earlier, providerMessageId } = part;
  if (status !== "sent" || earlier === undefined || !isElsewhere(earlier, by)) return part;
  if (outcome.kind === "unconfirmed") return { ...part, other: { connectorId: by.connectorId } };
  if (outcome.kind !== "sent") return part;
  return { ...afterOutcome({ status: "pending" }, outcome, by), other: toCopy(earlier, providerMessageId) };
}

/** A segment that a connector turns out to have taken, as its late answer says, while a later copy may be with another one. */
export function withEarlierCopy(part: Part, outcome: PartOutcome, by: AttemptBy): Part {
  const { status, connectorId: later } = part;
  const taken = afterOutcome(part, outcome, by);
  if (later === undefined || !isElsewhere(later, by)) return isOpen(part) ? taken : part;
  if (status === "unconfirmed") return { ...taken, other: { connectorId: later } };
  if (status === "sent") return { ...part, other: toCopy(by.connectorId, taken.providerMessageId) };
  return isOpen(part) ? taken : part;
}

function isElsewhere(connectorId: string, by: AttemptBy): by is { readonly connectorId: string } {
  return by.connectorId !== undefined && by.connectorId !== connectorId;
}

function toCopy(connectorId: string, providerMessageId: string | undefined): Copy {
  return { connectorId, ...(providerMessageId !== undefined && { providerMessageId }) };
}
