/** A segment of an SMS of which several connectors have a copy, or may have. It is delivered once any copy is. Pure. */
import { foldId, inOtherRadix } from "../receipts/provider-id.ts";
import type { Copy, Part } from "./message.ts";
import type { PartOutcome, Receipt } from "./outcome.ts";
import { type AttemptBy, afterOutcome, isOpen } from "./part.ts";

/** Whether a receipt says that an SMS will not be delivered. */
export function saysNotDelivered({ status }: Pick<Receipt, "status">): boolean {
  return status === "undelivered" || status === "expired" || status === "failed";
}

/**
 * Whether a receipt says that another copy of an SMS was not delivered than the one that the part tells of. That says nothing
 * of this one.
 */
export function isOfOtherCopy(part: Part, receipt: Receipt): boolean {
  return isOfOne(part, receipt) && copyTold(part, receipt) !== part;
}

/** Whether it says so of no copy that is known of. */
export function isOfNeitherCopy(part: Part, receipt: Receipt): boolean {
  return isOfOne(part, receipt) && copyTold(part, receipt) === undefined;
}

/** Whether it says so of one copy, where it is known who has one. */
function isOfOne({ connectorId }: Part, receipt: Receipt): boolean {
  return !receipt.target && saysNotDelivered(receipt) && connectorId !== undefined;
}

/**
 * The copy that a receipt is about: that of its connector, or the one whose id it tells, over whatever connector. Of two at one
 * connector the id tells as well; where it tells neither, the one that the part tells of is meant.
 */
function copyTold(part: Part, receipt: Receipt): Partial<Copy> | undefined {
  const { connectorId, providerMessageId: told, isOwnId } = receipt;
  const isAt = (copy: Partial<Copy>) => copy.connectorId === connectorId;
  const has = (copy: Partial<Copy>) =>
    isOwnId !== true && foldId(copy.providerMessageId ?? "") === foldId(told);
  const hasInAnyBase = (copy: Copy) => isOwnId !== true && isOneId(copy.providerMessageId ?? "", told);
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

/** Nearly always more than there are connectors to send over; of more, the latest are told. */
const MOST_OTHERS = 5;

/** Each within the one before. */
function nest([first, ...rest]: readonly Copy[], room = MOST_OTHERS): Pick<Copy, "other"> {
  if (!first || room === 0) return {};
  const { other: _, ...copy } = first;
  return { other: { ...copy, ...nest(rest, room - 1) } };
}

/** Whether two ids are one, perhaps in different bases. */
function isOneId(one: string, other: string): boolean {
  return foldId(one) === foldId(other) || inOtherRadix(one).includes(foldId(other));
}

/** The part once a copy of it was not delivered, where another one may be: `undefined` if there is none, so that it has failed. */
export function withoutCopy(part: Part, receipt: Receipt): Part | undefined {
  const { other, ...rest } = part;
  if (isOfOtherCopy(part, receipt)) {
    const failed = copyTold(part, receipt);
    return { ...rest, ...nest(othersOf(part).filter((copy) => copy !== failed)) };
  }
  return other && part.status === "sent" ? { status: "sent", ...other } : undefined;
}

/** The id of the copy that this connector has. */
export function idAt(part: Part, connectorId: string): string | undefined {
  return copiesOf(part).find((copy) => copy.connectorId === connectorId)?.providerMessageId;
}

/** Whom a receipt that is overdue at a connector is awaited from: another one, where that one's copy has failed. `undefined`: from nobody. */
export function awaitedFrom(part: Part | undefined, connectorId: string): string | undefined {
  if (part?.status !== "sent") return undefined;
  return copiesOf(part).some((copy) => copy.connectorId === connectorId) ? connectorId : part.connectorId;
}

/** The connector whose copy has failed between the two, and whom a receipt is awaited from instead. */
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

/** A segment that was taken, after another attempt at it: that one's connector has a later copy, or may have. */
export function withLaterCopy(part: Part, outcome: PartOutcome, by: AttemptBy): Part {
  const earlier = part.status === "sent" ? copyIn(part) : undefined;
  const later = copyBy(outcome, by);
  if (!earlier || !later || isOneCopy(earlier, later)) return part;
  // One without an id was never answered: now that there is a later one, the message does not wait for it.
  const others = othersBut(part, later).filter((copy) => copy.providerMessageId !== undefined);
  if (outcome.kind === "unconfirmed") return { ...part, ...nest([later, ...others]) };
  return { ...afterOutcome({ status: "pending" }, outcome, by), ...nest([earlier, ...others]) };
}

/** A segment that a connector turns out to have taken, as its late answer says, while there may be a later copy. */
export function withEarlierCopy(part: Part, outcome: PartOutcome, by: AttemptBy): Part {
  const later = copyIn(part);
  const earlier = copyBy(outcome, by);
  if (part.status === "sent") {
    return !later || !earlier || isOneCopy(earlier, later)
      ? part
      : { ...part, ...nest([earlier, ...othersBut(part, earlier)]) };
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
  if (!taken || [taken, ...othersOf(part)].some((copy) => isOneCopy(copy, failed))) return part;
  return { ...part, ...nest([failed, ...othersOf(part)]) };
}

/** The copies that the part tells of beside its own and this one. */
function othersBut(part: Part, copy: Copy): readonly Copy[] {
  return othersOf(part).filter((other) => !isOneCopy(other, copy));
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
