/** The keys under which receipts are parked, and which parked receipts are about an id that is recorded later. */
import type { Receipt } from "../../core/messages/outcome.ts";
import { foldId, inOtherRadix, namedByReceipts } from "../../core/receipts/provider-id.ts";
import { isSameNumber } from "../../core/receipts/same-number.ts";
import { uuidTime } from "../../core/uuid.ts";
import type { PartIds, SentReference } from "./receipt-state.ts";
import type { ParkedQuery } from "./receipts.ts";

/**
 * The most rows that are parked for one id: a provider that repeats itself must not fill the disk. An older receipt stays
 * under its other id, if it has one: some providers give the same first id each time.
 */
export const MAX_PARKED_PER_ID = 8;

/**
 * The keys under which a receipt is parked, each in a row of its own: those of its id and of its other id. Without a number
 * the other id would prove nothing, and has no row.
 */
export function keysOfParked({ providerMessageId, otherId, recipient }: Receipt): readonly string[] {
  const key = foldId(providerMessageId);
  const other = otherId === undefined || recipient === undefined ? key : foldId(otherId);
  return other === key ? [key] : [key, other];
}

/** In the column `reference`: marks the row for a receipt's other id, beside one for its first. Lists and counts skip it. */
export const SECOND_ROW = -1;

/** The row after which a page of parked receipts begins. */
export function lastOf({ after, order }: Pick<ParkedQuery, "after" | "order">): number {
  return Number(after) || (order === "newest" ? Number.MAX_SAFE_INTEGER : 0);
}

/** The keys under which receipts about these ids may be parked. */
export function keysOfIds(ids: readonly string[]): readonly string[] {
  return [...new Set(ids.flatMap((id) => [foldId(id), ...inOtherRadix(id)]))];
}

/** How far apart the clocks of two processes may be. */
const CLOCKS_APART_MS = 5 * 60_000;

/**
 * Makes a function that tells whether a receipt that is parked under one of the part's keys is about the part. The receipt's
 * id has to be the part's, or else its other id, in the same base: so matching requires, and otherwise it would only be parked
 * again. A receipt that came before the message was accepted is about an earlier message with the same id. If the answer
 * seems to have come before the message was accepted, the clock was set back; then the answer's time counts.
 */
export function isAboutIds({ messageId, ids, recipient, at }: PartIds): (receipt: Receipt) => boolean {
  const named = namedByReceipts(ids);
  const since = firstWordOf({ messageId, at });
  const isNamed = ({ providerMessageId, otherId }: Receipt) =>
    otherId === undefined ||
    keysOfIds(ids).includes(foldId(providerMessageId)) ||
    ids.some((id) => foldId(id) === foldId(otherId));
  return (receipt) =>
    receipt.receivedAt >= since &&
    ((named.includes(receipt.providerMessageId) && !receipt.isByText) ||
      (isSameNumber(recipient, receipt.recipient) === true && isNamed(receipt)));
}

/** Whether a parked receipt with the part's reference is about it. Many messages share a reference, so the time has to agree too. */
export function isAboutReference({ messageId, recipient, at }: SentReference): (receipt: Receipt) => boolean {
  const since = firstWordOf({ messageId, at });
  return (receipt) => receipt.receivedAt >= since && isSameNumber(recipient, receipt.recipient) === true;
}

/** The earliest time at which a receipt about the message can have come. */
function firstWordOf({ messageId, at }: Pick<PartIds, "messageId" | "at">): number {
  return Math.min(uuidTime(messageId) ?? 0, at) - CLOCKS_APART_MS;
}

/** Whether the receipt came before the message was accepted: then it is about an earlier message with the same id. */
export function cameBefore({ receivedAt }: Receipt, messageId: string): boolean {
  return receivedAt < (uuidTime(messageId) ?? 0) - CLOCKS_APART_MS;
}
