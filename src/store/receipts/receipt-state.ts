/** What the rules about receipts read and write, as each engine provides it inside a transaction. */
import { type AwaitedInstead, saysNotDelivered } from "../../core/messages/copies.ts";
import type { Progress, TimelineEntry } from "../../core/messages/message.ts";
import type { PartRef, Receipt } from "../../core/messages/outcome.ts";
import { isSettled } from "../../core/messages/progress.ts";
import type { Step } from "../../core/messages/step.ts";
import { foldId, inOtherRadix, namedByReceipts } from "../../core/receipts/provider-id.ts";
import { isSameNumber } from "../../core/receipts/same-number.ts";
import type { SuppressionReason } from "../../core/suppressions/suppression.ts";
import { uuidTime } from "../../core/uuid.ts";
import type { ParkedQuery } from "./receipts.ts";

export interface ReceiptState<M extends KnownMessage> {
  readonly messages: {
    /** As it was last saved. */
    find(id: string): M | undefined;
    /** Once it is settled, its waiting job ends, and its body is wiped. An attempt under way is left to its settlement. */
    save(message: M, step: Step): void;
  };
  readonly knownIds: KnownIds;
  readonly parked: ParkedReceipts;
  readonly unconfirmed: UnconfirmedParts;
  readonly suppressions: {
    learn(message: M, word: { email: string; reason: SuppressionReason; at: number }): void;
    forgive(message: M, email: string): void;
  };
  readonly sizeOf: SizeOf;
  /** Whether an attempt over the connector is on record, or one that was interrupted: nobody knows which it was. */
  wasHandedTo(messageId: string, connectorId: string): boolean;
  /**
   * Whether an attempt is under way that may send again what an earlier one may have sent: not where the account holds that.
   * Asked of the messages of `mayBeTooEarly` only.
   */
  isSentAgain(message: M): boolean;
}

/** What a timeline says of it. */
export function saysHandedTo(
  { kind, detail }: Pick<TimelineEntry, "kind" | "detail">,
  connectorId: string,
): boolean {
  return kind === "interrupted" || (isOfAttempt({ kind }) && detail?.connector === connectorId);
}

export function isOfAttempt({ kind }: Pick<TimelineEntry, "kind">): boolean {
  return kind === "attempt" || kind === "lost_settle";
}

export interface KnownMessage {
  readonly id: string;
  readonly recipient: string;
  readonly progress: Progress;
}

/** Segments and encoding of an SMS, as its last attempt counted them; empty where none did. */
export type SizeOf = (messageId: string) => MessageSize;

type MessageSize = { readonly segments?: number; readonly encoding?: string };

/** From the detail of an attempt. */
export function readSize({ segments, encoding }: Readonly<Record<string, unknown>>): MessageSize {
  return {
    ...(typeof segments === "number" && { segments }),
    ...(typeof encoding === "string" && { encoding }),
  };
}

/** The ids providers have given to parts of messages. */
export interface KnownIds {
  /** Records the ids of one part. */
  note(ids: NotedIds): void;
  /** The parts an id stands for, in any case and with any zeros in front; those of newer messages first. */
  find(connectorId: string, key: string): readonly KnownId[];
  /** The part's receipt has come. */
  received(part: PartRef): void;
  /** One connector's has, and says that its copy was not delivered: if the part's is overdue there, it is at another one now. */
  awaitInstead(part: PartRef, instead: AwaitedInstead, at: number): void;
}

export interface NotedIds extends PartRef {
  readonly connectorId: string;
  readonly providerMessageIds: readonly string[];
  /** When the provider took the part, Unix milliseconds; absent where no receipt is expected. */
  readonly awaitedSince?: number | undefined;
}

export interface KnownId extends PartRef {
  /** As receipts are expected to spell it. */
  readonly providerId: string;
}

/** Of the messages that have had the same id, only this many, the newest, are considered. */
export const MAX_SHARED_IDS = 32;

/** A row for each key (folded id); only the first says since when the receipt is awaited. `providerId` is `null` if equal to it. */
export function toIdRows(noted: NotedIds) {
  const { connectorId, messageId, part, providerMessageIds: ids, awaitedSince = null } = noted;
  // Of two spellings with one key the last counts: receipts use that one.
  const byKey = [...new Map(ids.map((id) => [foldId(id), id]))];
  // A receipt may be awaited even where the provider gave no id.
  if (ids.length === 0 && awaitedSince !== null) byKey.push(["", ""]);
  const named = namedByReceipts(ids);
  return byKey.map(([key, id], index) => {
    const name = named.includes(id) ? id : (named.at(-1) ?? id);
    const providerId = name === key ? null : name;
    return { connectorId, key, messageId, part, providerId, awaitedSince: index === 0 ? awaitedSince : null };
  });
}

/** Newer messages first, and of one message the parts in order. */
export function byMessageAndPart(one: PartRef, other: PartRef): number {
  if (one.messageId === other.messageId) return one.part - other.part;
  return one.messageId < other.messageId ? 1 : -1;
}

/** Receipts that match nothing yet. One with two ids is found by either. */
export interface ParkedReceipts {
  park(receipt: Receipt): void;
  /**
   * Removes and returns those about the ids of one part: spelled alike or, where the number agrees, in another form or as
   * the other id of a receipt.
   */
  takeByIds(part: PartIds): readonly Receipt[];
  /** Removes and returns those that carry the reference of an unconfirmed part and are about the same number. */
  takeByReference(sent: SentReference): readonly Receipt[];
}

export interface PartIds {
  readonly connectorId: string;
  readonly messageId: string;
  readonly ids: readonly string[];
  readonly recipient: string;
  /** When the provider's answer is recorded, Unix milliseconds. */
  readonly at: number;
}

export interface SentReference {
  /** `undefined`: it is not known which it was. */
  readonly connectorId: string | undefined;
  readonly reference: number;
  readonly recipient: string;
}

/**
 * Rows parked for one id at most: a provider that repeats itself must not fill the disk. An older receipt stays under its
 * other id if it has one: some providers give the same first id each time.
 */
export const MAX_PARKED_PER_ID = 8;

/** Rows considered for one reference at most: it has only 16 bits, so other parts share it. */
export const MAX_PER_REFERENCE = 100;

/**
 * The keys under which a receipt is parked, each in a row of its own: that of its id, and that of its other id, which proves
 * nothing without a number.
 */
export function keysOfParked({ providerMessageId, otherId, recipient }: Receipt): readonly string[] {
  const key = foldId(providerMessageId);
  const other = otherId === undefined || recipient === undefined ? key : foldId(otherId);
  return other === key ? [key] : [key, other];
}

/** In the column `reference`: marks the row of a parked receipt's other id, as long as it has one under its first. Lists and counts show only the first row. */
export const SECOND_ROW = -1;

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

/** Behind which row a page of parked receipts begins. */
export function lastOf({ after, order }: Pick<ParkedQuery, "after" | "order">): number {
  return Number(after) || (order === "newest" ? Number.MAX_SAFE_INTEGER : 0);
}

/** The keys under which receipts about these ids may be parked. */
export function keysOfIds(ids: readonly string[]): readonly string[] {
  return [...new Set(ids.flatMap((id) => [foldId(id), ...inOtherRadix(id)]))];
}

/** How far the clocks of two processes may be apart. */
const CLOCKS_APART_MS = 5 * 60_000;

/**
 * Whether a receipt that is parked under one of the keys is about the part. If its id is not that of the part, its other id
 * has to be, in the same base, as when it is matched: otherwise it would only be parked again. If it came before the message was accepted,
 * it is about an earlier message that had the same id. No message is answered before it was accepted: if it seems so, the
 * clock was set back, and its answer says when it was sent.
 */
export function isAboutIds({ messageId, ids, recipient, at }: PartIds): (receipt: Receipt) => boolean {
  const named = namedByReceipts(ids);
  const since = Math.min(uuidTime(messageId) ?? 0, at) - CLOCKS_APART_MS;
  const isNamed = ({ providerMessageId, otherId }: Receipt) =>
    otherId === undefined ||
    keysOfIds(ids).includes(foldId(providerMessageId)) ||
    ids.some((id) => foldId(id) === foldId(otherId));
  return (receipt) =>
    receipt.receivedAt >= since &&
    ((named.includes(receipt.providerMessageId) && !receipt.isByText) ||
      (isSameNumber(recipient, receipt.recipient) === true && isNamed(receipt)));
}

/** Parts of SMS that were sent and never answered, by the reference they carried. */
export interface UnconfirmedParts {
  /**
   * Where several connectors may have sent the part, as after failovers, any may from then on: the receipt's number has to agree.
   *
   * @param connectorId `undefined` if it is not known which connector it was
   */
  note(part: PartRef, connectorId: string | undefined): void;
  /** Those that may have gone out by the connector with this reference; newer messages first. */
  find(connectorId: string, reference: number): readonly PartRef[];
}
