/** A segment of an SMS of which several connectors have a copy, or may have. It is delivered once any copy is. Pure. */
import { foldId, inOtherRadix } from "../receipts/provider-id.ts";
import type { Copy, Part } from "./message.ts";
import type { PartOutcome, Receipt } from "./outcome.ts";
import { afterOutcome, isOpen } from "./part.ts";

/** Whether a receipt says that an SMS will not be delivered. */
export function saysNotDelivered({ status }: Pick<Receipt, "status">): boolean {
  return status === "undelivered" || status === "expired" || status === "failed";
}

/**
 * Whether a receipt says that another copy of an SMS was not delivered than the one that the part tells of. That says nothing
 * of this one. This copy's own id tells that it is meant, over whatever connector; of two copies at one connector, that of the
 * other tells that that one is.
 */
export function isOfOtherCopy(part: Part, receipt: Receipt): boolean {
  const { connectorId, providerMessageId: id = "", other } = part;
  if (receipt.target || !saysNotDelivered(receipt) || connectorId === undefined) return false;
  if (other?.connectorId !== connectorId || receipt.connectorId !== connectorId)
    return !isAbout(part, receipt);
  const { providerMessageId: told, isOwnId } = receipt;
  return isOwnId !== true && foldId(id) !== foldId(told) && isOneId(other.providerMessageId ?? "", told);
}

/** Whether it says so of neither copy that is known of. */
export function isOfNeitherCopy(part: Part, receipt: Receipt): boolean {
  return isOfOtherCopy(part, receipt) && !(part.other && isAbout(part.other, receipt));
}

function isAbout(copy: Partial<Copy>, { connectorId, providerMessageId, isOwnId }: Receipt): boolean {
  if (copy.connectorId === connectorId) return true;
  return isOwnId !== true && foldId(copy.providerMessageId ?? "") === foldId(providerMessageId);
}

/** Whether two ids are one, perhaps in different bases. */
function isOneId(one: string, other: string): boolean {
  return foldId(one) === foldId(other) || inOtherRadix(one).includes(foldId(other));
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

/** A segment that was taken, after another attempt at it: that one's connector has a later copy, or may have. */
export function withLaterCopy(part: Part, outcome: PartOutcome, by: AttemptBy): Part {
  const earlier = part.status === "sent" ? copyIn(part) : undefined;
  const later = copyBy(outcome, by);
  if (!earlier || !later || isOneCopy(earlier, later)) return part;
  if (outcome.kind === "unconfirmed") return { ...part, other: later };
  return { ...afterOutcome({ status: "pending" }, outcome, by), other: earlier };
}

/** A segment that a connector turns out to have taken, as its late answer says, while there may be a later copy. */
export function withEarlierCopy(part: Part, outcome: PartOutcome, by: AttemptBy): Part {
  const later = copyIn(part);
  const earlier = copyBy(outcome, by);
  if (part.status === "sent") {
    return !later || !earlier || isOneCopy(earlier, later) ? part : { ...part, other: earlier };
  }
  if (!isOpen(part)) return part;
  const taken = afterOutcome(part, outcome, by);
  const isElsewhere = part.status === "unconfirmed" && later && later.connectorId !== by.connectorId;
  return isElsewhere ? { ...taken, other: { connectorId: later.connectorId } } : taken;
}

/** A segment that has just been taken, if that was not the copy that failed before, as its id shows. */
export function withFailedCopy(part: Part, { connectorId, providerMessageId }: Copy): Part {
  const taken = part.status === "sent" ? copyIn(part) : undefined;
  const failed = toCopy(connectorId, providerMessageId);
  return !taken || part.other || isOneCopy(taken, failed) ? part : { ...part, other: failed };
}

/** Copies at one connector are one unless their ids differ. */
function isOneCopy(one: Copy, other: Copy): boolean {
  if (one.connectorId !== other.connectorId) return false;
  const { providerMessageId: id } = one;
  const { providerMessageId: otherId } = other;
  return id === undefined || otherId === undefined || isOneId(id, otherId);
}

/** The copy that the part tells of. */
function copyIn({ connectorId, providerMessageId }: Part): Copy | undefined {
  return connectorId === undefined ? undefined : toCopy(connectorId, providerMessageId);
}

/** The copy that an attempt has made, or may have. */
function copyBy(outcome: PartOutcome, { connectorId }: AttemptBy): Copy | undefined {
  if (connectorId === undefined) return undefined;
  if (outcome.kind === "sent") return toCopy(connectorId, outcome.providerMessageIds[0]);
  return outcome.kind === "unconfirmed" ? { connectorId } : undefined;
}

function toCopy(connectorId: string, providerMessageId: string | undefined): Copy {
  return { connectorId, ...(providerMessageId !== undefined && { providerMessageId }) };
}
