/** Under which keys receipts are parked, and which of them are about an id that is recorded later. */
import type { Receipt } from "../../core/messages/outcome.ts";
import { foldId, inOtherRadix, namedByReceipts } from "../../core/receipts/provider-id.ts";
import { isSameNumber } from "../../core/receipts/same-number.ts";
import { uuidTime } from "../../core/uuid.ts";
import type { PartIds, SentReference } from "./receipt-state.ts";
import type { ParkedQuery } from "./receipts.ts";

/**
 * Rows parked for one id at most: a provider that repeats itself must not fill the disk. An older receipt stays under its
 * other id if it has one: some providers give the same first id each time.
 */
export const MAX_PARKED_PER_ID = 8;

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

/** Whether a receipt that is parked with the part's reference is about it. Many messages share a reference, so the time has to agree too. */
export function isAboutReference({ messageId, recipient, at }: SentReference): (receipt: Receipt) => boolean {
  const since = firstWordOf({ messageId, at });
  return (receipt) => receipt.receivedAt >= since && isSameNumber(recipient, receipt.recipient) === true;
}

/** Before that no receipt about the message can have come. */
function firstWordOf({ messageId, at }: Pick<PartIds, "messageId" | "at">): number {
  return Math.min(uuidTime(messageId) ?? 0, at) - CLOCKS_APART_MS;
}

/** Whether the receipt had come before the message was accepted: it is about an earlier one that had the same id. */
export function cameBefore({ receivedAt }: Receipt, messageId: string): boolean {
  return receivedAt < (uuidTime(messageId) ?? 0) - CLOCKS_APART_MS;
}
