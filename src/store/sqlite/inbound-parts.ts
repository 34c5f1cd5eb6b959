import { type InboundPart, type InboundPiece, joinParts } from "../../core/inbound.ts";
import type { SmsEncoding } from "../../core/sms-segments.ts";
import type { Database } from "./database.ts";

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
const MAX_WAITING = 10_000;

interface PartRow {
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

type Group = readonly [connector: string, from: string, to: string, reference: number, total: number];

const OF_GROUP = "connector_id = ? AND sender = ? AND recipient = ? AND reference = ? AND total = ?";

export function createInboundParts(db: Database): InboundParts {
  const shelf = createShelf(db);

  const addTo = (group: Group, piece: InboundPiece, { number, total }: InboundPart): AddedPart => {
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
      if (before.length === 0 && shelf.isFull()) return { kind: "whole", messages: [alone(piece)] };
      return addTo(group, piece, part);
    },
    expire(before) {
      const first = shelf.oldest(before);
      if (!first) return undefined;
      const { connector_id, sender, recipient, reference, total } = first;
      const group = [connector_id, sender, recipient, reference, total] as const;
      const rows = shelf.ofGroup(group);
      shelf.remove(group);
      return { rows: rows.length, ...(first.message_id === null && { message: toWhole(rows) }) };
    },
  };
}

/** The statements. */
function createShelf(db: Database) {
  const ofGroup = db.prepare<PartRow>(`SELECT * FROM inbound_parts WHERE ${OF_GROUP} ORDER BY number`);
  const count = db.prepare<{ count: number }>(
    `SELECT count(*) AS count FROM (SELECT 1 FROM inbound_parts WHERE received_at >= 0 LIMIT ${MAX_WAITING})`,
  );
  const insert = db.prepare(
    `INSERT INTO inbound_parts (connector_id, sender, recipient, reference, total, number, id, provider_key, text,
       encoding, received_at, message_id) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, NULL)`,
  );
  const complete = db.prepare(`UPDATE inbound_parts SET message_id = ? WHERE ${OF_GROUP}`);
  const remove = db.prepare(`DELETE FROM inbound_parts WHERE ${OF_GROUP}`);
  const oldest = db.prepare<PartRow>(
    "SELECT * FROM inbound_parts WHERE received_at < ? ORDER BY received_at LIMIT 1",
  );
  return {
    ofGroup: (group: Group) => ofGroup.all(...group),
    isFull: () => (count.get()?.count ?? 0) >= MAX_WAITING,
    put(group: Group, number: number, { id, key, text, encoding, receivedAt }: InboundPiece) {
      insert.run(...group, number, id, key, JSON.stringify(text), encoding, receivedAt);
    },
    complete: (group: Group, messageId: string) => void complete.run(messageId, ...group),
    remove: (group: Group) => void remove.run(...group),
    oldest: (before: number) => oldest.get(before),
  };
}

/** The message of these parts; under the id of the newest, unless another is given. */
function toWhole(rows: readonly PartRow[], id?: string): WholeMessage {
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
