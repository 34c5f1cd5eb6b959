/**
 * Copies of one segment of an SMS, which several connectors have taken, or may have. The segment is delivered once any copy
 * is. A `Part` names one of them itself (`connectorId`, `providerMessageId`): its main copy; the others are nested in `other`.
 * Pure.
 */
import { foldId, inOtherRadix } from "../receipts/provider-id.ts";
import type { Copy, Part } from "./message.ts";
import type { PartOutcome, Receipt } from "./outcome.ts";
import { type AttemptBy, afterOutcome, isOpen } from "./part.ts";

/** Whether a receipt says that an SMS, or this copy of it, will not be delivered. */
export function saysNotDelivered({ status }: Pick<Receipt, "status">): boolean {
  return status === "undelivered" || status === "expired" || status === "failed";
}

/** Whether a receipt reports the failure of a copy other than the main one. Then it says nothing about the main one. */
export function isAboutOtherCopy(part: Part, receipt: Receipt): boolean {
  return reportsOneCopy(part, receipt) && copyMeant(part, receipt) !== part;
}

/** Whether a receipt reports the failure of a copy that the part does not know. */
export function isAboutUnknownCopy(part: Part, receipt: Receipt): boolean {
  return reportsOneCopy(part, receipt) && copyMeant(part, receipt) === undefined;
}

/** Whether a receipt reports the failure of a single copy, of a part whose main copy is at a known connector. */
function reportsOneCopy({ connectorId }: Part, receipt: Receipt): boolean {
  return !receipt.target && saysNotDelivered(receipt) && connectorId !== undefined;
}

/**
 * The copy that a receipt is about, the first of these: the main copy, if it has the receipt's id; another copy at the
 * receipt's connector with that id; the main copy, if it is at that connector; any other copy there; a copy elsewhere with
 * that id. Our own id (`isOwnId`) names the message, so it tells no copy from another.
 */
function copyMeant(part: Part, receipt: Receipt): Partial<Copy> | undefined {
  const { connectorId, providerMessageId: told, isOwnId } = receipt;
  const isAt = (copy: Partial<Copy>) => copy.connectorId === connectorId;
  const has = (copy: Partial<Copy>) =>
    isOwnId !== true && foldId(copy.providerMessageId ?? "") === foldId(told);
  const hasInAnyBase = (copy: Copy) => isOwnId !== true && isSameId(copy.providerMessageId ?? "", told);
  const others = othersOf(part);
  if (has(part)) return part;
  const there = others.filter(isAt);
  return there.find(hasInAnyBase) ?? (isAt(part) ? part : (there[0] ?? others.find(has)));
}

function copiesOf(part: Part): readonly Partial<Copy>[] {
  return [part, ...othersOf(part)];
}

function othersOf({ other }: Pick<Copy, "other">): readonly Copy[] {
  return other ? [other, ...othersOf(other)] : [];
}

/** The most copies that are kept beside the main one, the latest first. There are rarely as many connectors to send over. */
const MOST_OTHERS = 5;

/** Nests each copy in the one before it. */
function nest([first, ...rest]: readonly Copy[], room = MOST_OTHERS): Pick<Copy, "other"> {
  if (!first || room === 0) return {};
  const { other: _, ...copy } = first;
  return { other: { ...copy, ...nest(rest, room - 1) } };
}

/** Whether two ids are the same, perhaps written in different bases. */
function isSameId(one: string, other: string): boolean {
  return foldId(one) === foldId(other) || inOtherRadix(one).includes(foldId(other));
}

/** The part without the copy that has failed; `undefined` if no other may still be delivered, so that the part has failed. */
export function withoutCopy(part: Part, receipt: Receipt): Part | undefined {
  const { other, ...rest } = part;
  if (isAboutOtherCopy(part, receipt)) {
    const failed = copyMeant(part, receipt);
    return { ...rest, ...nest(othersOf(part).filter((copy) => copy !== failed)) };
  }
  return other && part.status === "sent" ? { status: "sent", ...other } : undefined;
}

/** Whether a connector is known to have a copy of a sent segment. */
export function hasCopyAt(part: Part, connectorId: string): boolean {
  return part.status === "sent" && copiesOf(part).some((copy) => copy.connectorId === connectorId);
}

/** The provider's id of the copy at this connector. */
export function idAt(part: Part, connectorId: string): string | undefined {
  return copiesOf(part).find((copy) => copy.connectorId === connectorId)?.providerMessageId;
}

/**
 * The connector that an overdue receipt is awaited from, having been awaited from `connectorId`: another one, if that one's
 * copy has failed. `undefined`: no receipt is awaited any more.
 */
export function awaitedFrom(part: Part | undefined, connectorId: string): string | undefined {
  if (part?.status !== "sent") return undefined;
  return hasCopyAt(part, connectorId) ? connectorId : part.connectorId;
}

/** The connector whose copy has failed from `before` to `after`, and the one that a receipt is awaited from instead. */
export function awaitedInstead(
  before: Part | undefined,
  after: Part | undefined,
): AwaitedInstead | undefined {
  if (!before || before === after) return undefined;
  const moves = copiesOf(before).map(({ connectorId: from = "" }) => ({
    from,
    to: awaitedFrom(after, from),
  }));
  return moves.find((move): move is AwaitedInstead => move.to !== undefined && move.to !== move.from);
}

export interface AwaitedInstead {
  readonly from: string;
  readonly to: string;
}

/** A sent segment after a later attempt at it, whose connector now has a copy too, or may have. */
export function withLaterCopy(part: Part, outcome: PartOutcome, by: AttemptBy): Part {
  const earlier = part.status === "sent" ? mainCopy(part) : undefined;
  const later = copyBy(outcome, by);
  if (!earlier || !later || isSameCopy(earlier, later)) return part;
  // A copy without an id was never confirmed: with a later copy there, the message does not wait for it.
  const others = othersExcept(part, later).filter((copy) => copy.providerMessageId !== undefined);
  if (outcome.kind === "unconfirmed") return { ...part, ...nest([later, ...others]) };
  return { ...afterOutcome({ status: "pending" }, outcome, by), ...nest([earlier, ...others]) };
}

/** A segment that a connector has taken, as its late answer says. There may be a later copy by now. */
export function withEarlierCopy(part: Part, outcome: PartOutcome, by: AttemptBy): Part {
  const later = mainCopy(part);
  const earlier = copyBy(outcome, by);
  if (part.status === "sent") {
    return !later || !earlier || isSameCopy(earlier, later)
      ? part
      : { ...part, ...nest([earlier, ...othersExcept(part, earlier)]) };
  }
  if (!isOpen(part)) return part;
  const taken = afterOutcome(part, outcome, by);
  const isElsewhere = part.status === "unconfirmed" && later && later.connectorId !== by.connectorId;
  return isElsewhere ? { ...taken, other: { connectorId: later.connectorId } } : taken;
}

/** A segment that has just been sent, with the copy that failed before beside it, unless it is the same copy (`isSameCopy`). */
export function withFailedCopy(part: Part, { connectorId, providerMessageId }: Copy): Part {
  const taken = part.status === "sent" ? mainCopy(part) : undefined;
  const failed = toCopy(connectorId, providerMessageId);
  if (!taken || [taken, ...othersOf(part)].some((copy) => isSameCopy(copy, failed))) return part;
  return { ...part, ...nest([failed, ...othersOf(part)]) };
}

/** The copies beside the main one, without this one. */
function othersExcept(part: Part, copy: Copy): readonly Copy[] {
  return othersOf(part).filter((other) => !isSameCopy(other, copy));
}

/** Two copies at one connector are the same unless their ids differ. */
function isSameCopy(one: Copy, other: Copy): boolean {
  if (one.connectorId !== other.connectorId) return false;
  const { providerMessageId: id } = one;
  const { providerMessageId: otherId } = other;
  return id === undefined || otherId === undefined || isSameId(id, otherId);
}

/** `undefined` if no connector is known to have the part. */
function mainCopy({ connectorId, providerMessageId }: Part): Copy | undefined {
  return connectorId === undefined ? undefined : toCopy(connectorId, providerMessageId);
}

/** The copy that an attempt has made, or may have made. */
function copyBy(outcome: PartOutcome, { connectorId }: AttemptBy): Copy | undefined {
  if (connectorId === undefined) return undefined;
  if (outcome.kind === "sent") return toCopy(connectorId, outcome.providerMessageIds[0]);
  return outcome.kind === "unconfirmed" ? { connectorId } : undefined;
}

function toCopy(connectorId: string, providerMessageId: string | undefined): Copy {
  return { connectorId, ...(providerMessageId !== undefined && { providerMessageId }) };
}
