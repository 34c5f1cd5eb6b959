import { type InboundPart, type InboundPiece, joinParts } from "../../core/inbound/inbound.ts";
import type { SmsEncoding } from "../../core/sms/sms-segments.ts";

/** A message that is complete, or as complete as it gets: what is stored of it. */
export type WholeMessage = Omit<InboundPiece, "part" | "sameSince"> & { readonly isPartial?: true };

export interface AddedPart {
  readonly kind: "repeat" | "waiting" | "whole";
  /** What there is to store: the message it completes; before it one that it cuts short. */
  readonly messages: readonly WholeMessage[];
}

/** Parts of long messages that wait for one another. To be used inside a transaction. */
export interface InboundParts {
  add(piece: InboundPiece, part: InboundPart): AddedPart;
  /** Of one message whose first part came before `before`: forgotten, or, where parts are missing, as it is. */
  expire(before: number): { readonly rows: number; readonly message?: WholeMessage } | undefined;
}

/** Parts that may wait, of all messages; beyond it a part is a message of its own. */
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
}

/** What the parts of one message have in common. */
export type PartGroup = readonly [
  connector: string,
  from: string,
  to: string,
  reference: number,
  total: number,
];

/** The rows, as a transaction sees and changes them. */
export interface PartShelf {
  /** In the order of their numbers. */
  ofGroup(group: PartGroup): readonly InboundPartRow[];
  /** Of all messages: how many, counted up to `MAX_WAITING_PARTS`. */
  count(): number;
  put(group: PartGroup, number: number, piece: InboundPiece): void;
  /** They are a message of that id now, and stay for repeats. */
  complete(group: PartGroup, messageId: string): void;
  remove(group: PartGroup): void;
  /** The one that came first, where that was before `before`. */
  oldest(before: number): InboundPartRow | undefined;
}

export function createInboundParts(shelf: PartShelf): InboundParts {
  const addTo = (group: PartGroup, piece: InboundPiece, { number, total }: InboundPart): AddedPart => {
    shelf.put(group, number, piece);
    const rows = shelf.ofGroup(group);
    if (rows.length < total) return { kind: "waiting", messages: [] };
    shelf.complete(group, piece.id);
    return { kind: "whole", messages: [toWhole(rows, piece.id)] };
  };

  return {
    add(piece, part) {
      const group = [piece.connectorId, piece.from, piece.to, part.reference, part.total] as const;
      const before = shelf.ofGroup(group);
      const same = before.find(({ number }) => number === part.number);
      if (same?.text === JSON.stringify(piece.text)) return { kind: "repeat", messages: [] };
      if (same) {
        // The handset counts its references anew: what there is of the message before will not be completed.
        shelf.remove(group);
        const cut = same.message_id === null ? [toWhole(before)] : [];
        const added = addTo(group, piece, part);
        return { ...added, messages: [...cut, ...added.messages] };
      }
      if (before.length === 0 && shelf.count() >= MAX_WAITING_PARTS)
        return { kind: "whole", messages: [alone(piece)] };
      return addTo(group, piece, part);
    },
    expire(before) {
      const first = shelf.oldest(before);
      if (!first) return undefined;
      const group = groupOf(first);
      const rows = shelf.ofGroup(group);
      shelf.remove(group);
      return { rows: rows.length, ...(first.message_id === null && { message: toWhole(rows) }) };
    },
  };
}

export function groupOf(row: InboundPartRow): PartGroup {
  return [row.connector_id, row.sender, row.recipient, row.reference, row.total];
}

/** The message of these parts; under the id of the newest, unless another is given. */
function toWhole(rows: readonly InboundPartRow[], id?: string): WholeMessage {
  const newest = rows.reduce((latest, row) => (row.id > latest.id ? row : latest));
  const texts = new Map(rows.map((row) => [row.number, JSON.parse(row.text) as string]));
  return {
    id: id ?? newest.id,
    connectorId: newest.connector_id,
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

function alone({ part: _, sameSince: __, ...piece }: InboundPiece): WholeMessage {
  return { ...piece, text: piece.text.toWellFormed(), isPartial: true };
}
