import { type InboundPart, type InboundPiece, joinParts } from "../../core/inbound/inbound.ts";
import type { SmsEncoding } from "../../core/sms/sms-segments.ts";

/** A message as it is stored: complete, or, with `isPartial`, as complete as it will ever be. */
export type WholeMessage = Omit<
  InboundPiece,
  "part" | "sharedAs" | "sameSince" | "hasNoId" | "isKnownNew"
> & {
  readonly isPartial?: true;
};

export interface AddedPart {
  readonly kind: "repeat" | "waiting" | "whole";
  /** The messages to store: an earlier one that will never be completed, if there is one, then the one that is complete. */
  readonly messages: readonly WholeMessage[];
}

/** The parts of long messages, which wait for one another. For use inside a transaction. */
export interface InboundParts {
  add(piece: InboundPiece, part: InboundPart): AddedPart;
  /**
   * Removes the parts of one message whose first part came before `before`. Returns how many rows that were, and the message, if
   * it has not been stored yet; `undefined` if there is no such message.
   */
  expire(before: number): { readonly rows: number; readonly message?: WholeMessage } | undefined;
}

/** The most parts that may wait, of all messages together. Any further part becomes a message of its own. */
export const MAX_WAITING_PARTS = 10_000;

export interface InboundPartRow {
  readonly connector_id: string;
  readonly sender: string;
  readonly recipient: string;
  readonly reference: number;
  readonly total: number;
  readonly number: number;
  readonly id: string;
  readonly provider_key: string;
  readonly text: string;
  readonly encoding: SmsEncoding;
  readonly received_at: number;
  readonly message_id: string | null;
  /** `null`: it was stored by a version that knows only the connector of the group. */
  readonly came_over: string | null;
}

/** What becomes of the key of parts for which `InboundStore.endRepeats` was called. */
export const KEY_OF_NO_REPEATS = "";

/** What the parts of one message have in common. */
export interface PartGroup {
  /** The first one of the account at the provider, whichever the parts came over: see `cameOver`. */
  readonly connectorId: string;
  readonly from: string;
  readonly to: string;
  /** The message's number in the UDH, which the handset counts from 0 to 255, or to 65535. */
  readonly reference: number;
  /** How many parts the message has. */
  readonly total: number;
}

/** The rows of parts. Each engine provides them, inside a transaction. */
export interface PartTable {
  /** The parts of a message, in order of their numbers. */
  ofGroup(group: PartGroup): readonly InboundPartRow[];
  /** About how many parts wait for others, of all messages together, counted up to `MAX_WAITING_PARTS`. */
  countWaiting(now: number): number;
  put(group: PartGroup, number: number, piece: InboundPiece): void;
  /** Notes that the parts have become this message. The rows stay, so that repeats are recognised, and wait no longer. */
  complete(group: PartGroup, messageId: string): void;
  remove(group: PartGroup): void;
  /** The part that came first of all, if it came before `before`. */
  oldest(before: number): InboundPartRow | undefined;
}

export function createInboundParts(table: PartTable): InboundParts {
  const addTo = (group: PartGroup, piece: InboundPiece, { number, total }: InboundPart): AddedPart => {
    table.put(group, number, piece);
    const rows = table.ofGroup(group);
    if (rows.length < total) return { kind: "waiting", messages: [] };
    table.complete(group, piece.id);
    return { kind: "whole", messages: [toWhole(rows, piece.id)] };
  };

  return {
    add(piece, part) {
      const group = groupOfPart(piece, part);
      const before = table.ofGroup(group);
      const same = before.find(({ number }) => number === part.number);
      if (same && isRepeatOf(same, piece)) return { kind: "repeat", messages: [] };
      if (same) {
        // The handset has reused the reference: the earlier message will never be completed.
        table.remove(group);
        const incomplete = same.message_id === null ? [toWhole(before)] : [];
        const added = addTo(group, piece, part);
        return { ...added, messages: [...incomplete, ...added.messages] };
      }
      if (before.length === 0 && table.countWaiting(piece.receivedAt) >= MAX_WAITING_PARTS)
        return { kind: "whole", messages: [alone(piece)] };
      return addTo(group, piece, part);
    },
    expire(before) {
      const first = table.oldest(before);
      if (!first) return undefined;
      const group = groupOf(first);
      const rows = table.ofGroup(group);
      table.remove(group);
      return { rows: rows.length, ...(first.message_id === null && { message: toWhole(rows) }) };
    },
  };
}

/**
 * Whether a part has come before. One that says the same as a part of a complete message, and is known to be another, is the next
 * message's: some senders do not count their messages, or have come round to the same number, and begin all of them alike.
 */
function isRepeatOf(same: InboundPartRow, piece: InboundPiece): boolean {
  if (same.text !== JSON.stringify(piece.text)) return false;
  return same.message_id === null || !isAnother(same, piece);
}

function isAnother(same: InboundPartRow, { key, hasNoId, isKnownNew, sameSince }: InboundPiece): boolean {
  if (same.received_at < sameSince || same.provider_key === KEY_OF_NO_REPEATS) return true;
  return key !== same.provider_key && (!hasNoId || isKnownNew === true);
}

export function groupOfPart(piece: InboundPiece, { reference, total }: InboundPart): PartGroup {
  const { connectorId, sharedAs = connectorId, from, to } = piece;
  return { connectorId: sharedAs, from, to, reference, total };
}

export function groupOf(row: InboundPartRow): PartGroup {
  const { connector_id: connectorId, sender: from, recipient: to, reference, total } = row;
  return { connectorId, from, to, reference, total };
}

/** The connector that a part came over, by which the account of its number is found. */
export function cameOver({ came_over: connectorId, connector_id: ofGroup }: PlaceRow): string {
  return connectorId ?? ofGroup;
}

export type PlaceRow = Pick<InboundPartRow, "came_over" | "connector_id">;

/** Joins parts into a message, which came over the newest one's connector. Its id is that one's too, unless another is given. */
function toWhole(rows: readonly InboundPartRow[], id?: string): WholeMessage {
  const newest = rows.reduce((latest, row) => (row.id > latest.id ? row : latest));
  const texts = new Map(rows.map((row) => [row.number, JSON.parse(row.text) as string]));
  return {
    id: id ?? newest.id,
    connectorId: cameOver(newest),
    from: newest.sender,
    to: newest.recipient,
    text: joinParts(texts, newest.total),
    encoding: rows.some(({ encoding }) => encoding === "ucs2") ? "ucs2" : "gsm7",
    segments: rows.length,
    receivedAt: newest.received_at,
    key: newest.provider_key,
    ...(rows.length < newest.total && { isPartial: true }),
  };
}

function alone({ part: _, sharedAs: __, sameSince: ___, ...piece }: InboundPiece): WholeMessage {
  return { ...piece, text: piece.text.toWellFormed(), isPartial: true };
}
