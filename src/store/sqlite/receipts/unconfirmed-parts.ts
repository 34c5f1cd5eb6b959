import { partReference } from "../../../core/receipts/short-reference.ts";
import { MAX_PER_REFERENCE, type UnconfirmedParts } from "../../receipts/receipt-state.ts";
import type { Database } from "../database/database.ts";

/** The rows of `unconfirmed_parts`. A row without a connector stays so: an earlier attempt may have been over any connector. */
export function createUnconfirmedParts(db: Database): UnconfirmedParts {
  const insert = db.prepare(
    `INSERT INTO unconfirmed_parts (reference, message_id, part, connector_id) VALUES (?, ?, ?, ?)
     ON CONFLICT DO UPDATE SET connector_id = CASE WHEN connector_id = excluded.connector_id THEN connector_id END`,
  );
  const find = db.prepare<{ message_id: string; part: number }>(
    `SELECT message_id, part FROM unconfirmed_parts WHERE reference = ?1 AND coalesce(connector_id, ?2) = ?2
     ORDER BY message_id DESC LIMIT ${MAX_PER_REFERENCE}`,
  );
  return {
    note: ({ messageId, part }, connectorId) =>
      void insert.run(partReference(messageId, part), messageId, part, connectorId ?? null),
    find: (connectorId, reference) =>
      find.all(reference, connectorId).map((row) => ({ messageId: row.message_id, part: row.part })),
  };
}
