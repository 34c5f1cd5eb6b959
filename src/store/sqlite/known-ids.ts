import { byMessageAndPart, type KnownIds, MAX_SHARED_IDS, toIdRows } from "../receipt-books.ts";
import type { Database } from "./database.ts";

export function createKnownIds(db: Database): KnownIds {
  const insert = db.prepare(
    `INSERT INTO provider_ids (connector_id, id_key, message_id, part, provider_id, awaited_since)
     VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`,
  );
  const find = db.prepare<IdRow>(
    `SELECT message_id, part, provider_id FROM provider_ids
     WHERE connector_id = +? AND id_key = +? ORDER BY message_id DESC, part DESC LIMIT ${MAX_SHARED_IDS}`,
  );
  const received = db.prepare(
    `UPDATE provider_ids SET awaited_since = NULL
     WHERE message_id = ? AND part = ? AND awaited_since IS NOT NULL`,
  );
  const notOverdue = db.prepare("DELETE FROM overdue_receipts WHERE message_id = ? AND part = ?");

  return {
    note(ids) {
      for (const { connectorId, key, messageId, part, providerId, awaitedSince } of toIdRows(ids))
        insert.run(connectorId, key, messageId, part, providerId, awaitedSince);
    },
    find: (connectorId, key) =>
      find
        .all(connectorId, key)
        .map((row) => ({
          messageId: row.message_id,
          part: row.part,
          providerId: row.provider_id ?? key,
        }))
        // The index, read from its end, gives the parts of a message from the last on.
        .sort(byMessageAndPart),
    received({ messageId, part }) {
      if (received.run(messageId, part) === 0) notOverdue.run(messageId, part);
    },
  };
}

interface IdRow {
  readonly message_id: string;
  readonly part: number;
  readonly provider_id: string | null;
}
