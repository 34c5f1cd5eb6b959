import type { PartRef } from "../../core/outcome.ts";
import { partReference } from "../../core/short-reference.ts";
import type { Database } from "./database.ts";

/** Parts of SMS that left us and were not answered, by the reference that they carried. Inside a transaction. */
export interface UnconfirmedParts {
  /** @param connectorId `undefined` where nobody knows which connector it was */
  note(part: PartRef, connectorId: string | undefined): void;
  /** Those that may have gone over the connector with this reference, of newer messages first. */
  find(connectorId: string, reference: number): readonly PartRef[];
}

/** A reference has 16 bits, so that several parts have the same one. */
const MAX_SHARED = 100;

export function createUnconfirmedParts(db: Database): UnconfirmedParts {
  const insert = db.prepare(
    `INSERT INTO unconfirmed_parts (reference, message_id, part, connector_id) VALUES (?, ?, ?, ?)
     ON CONFLICT DO UPDATE SET connector_id = coalesce(excluded.connector_id, connector_id)`,
  );
  const find = db.prepare<{ message_id: string; part: number }>(
    `SELECT message_id, part FROM unconfirmed_parts WHERE reference = ?1 AND coalesce(connector_id, ?2) = ?2
     ORDER BY message_id DESC LIMIT ${MAX_SHARED}`,
  );
  return {
    note: ({ messageId, part }, connectorId) =>
      void insert.run(partReference(messageId, part), messageId, part, connectorId ?? null),
    find: (connectorId, reference) =>
      find.all(reference, connectorId).map((row) => ({ messageId: row.message_id, part: row.part })),
  };
}
