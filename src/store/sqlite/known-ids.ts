import type { PartRef } from "../../core/outcome.ts";
import { foldId, namedByReceipts } from "../../core/provider-id.ts";
import type { Database } from "./database.ts";

/** The ids providers have given to parts of messages. Inside a transaction. */
export interface KnownIds {
  /** Records the ids of one part; `awaitedSince`: when it was taken, where a receipt is to follow. */
  note(ids: NotedIds): void;
  /** The parts an id stands for, in any case and with any zeros in front; those of newer messages first. */
  find(connectorId: string, key: string): readonly KnownId[];
  /** The part's receipt has come. */
  received(part: PartRef): void;
}

export interface NotedIds extends PartRef {
  readonly connectorId: string;
  readonly providerMessageIds: readonly string[];
  readonly awaitedSince?: number | undefined;
}

export interface KnownId extends PartRef {
  /** As receipts are to name it. */
  readonly providerId: string;
}

/** Of the messages that have had the same id, so many are looked at. */
const MAX_SHARED = 32;

export function createKnownIds(db: Database): KnownIds {
  const insert = db.prepare(
    `INSERT INTO provider_ids (connector_id, id_key, message_id, part, provider_id, awaited_since)
     VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`,
  );
  const find = db.prepare<IdRow>(
    `SELECT message_id, part, provider_id FROM provider_ids
     WHERE connector_id = +? AND id_key = +? ORDER BY message_id DESC, part DESC LIMIT ${MAX_SHARED}`,
  );
  const received = db.prepare(
    `UPDATE provider_ids SET awaited_since = NULL
     WHERE message_id = ? AND part = ? AND awaited_since IS NOT NULL`,
  );
  const notOverdue = db.prepare("DELETE FROM overdue_receipts WHERE message_id = ? AND part = ?");

  return {
    note({ connectorId, messageId, part, providerMessageIds, awaitedSince }) {
      // Of two spellings with one key the last counts: that is how receipts name it.
      const byKey = new Map(providerMessageIds.map((id) => [foldId(id), id]));
      const named = namedByReceipts(providerMessageIds);
      let since = awaitedSince ?? null;
      for (const [key, id] of byKey) {
        const name = named.includes(id) ? id : (named.at(-1) ?? id);
        insert.run(connectorId, key, messageId, part, name === key ? null : name, since);
        since = null;
      }
    },
    find: (connectorId, key) =>
      find
        .all(connectorId, key)
        .map((row) => ({
          messageId: row.message_id,
          part: row.part,
          providerId: row.provider_id ?? key,
        }))
        .sort(byMessageAndPart),
    received({ messageId, part }) {
      if (received.run(messageId, part) === 0) notOverdue.run(messageId, part);
    },
  };
}

/** The index, read from its end, gives the parts of a message from the last on. */
function byMessageAndPart(one: KnownId, other: KnownId): number {
  if (one.messageId === other.messageId) return one.part - other.part;
  return one.messageId < other.messageId ? 1 : -1;
}

interface IdRow {
  readonly message_id: string;
  readonly part: number;
  readonly provider_id: string | null;
}
