import type { Database } from "../database/database.ts";
import { OF_MESSAGE } from "../queue/jobs-of-message.ts";
import { OWN_CONTENT } from "./own-content.ts";

export interface RemovedMessage {
  readonly id: string;
  /** Number of its content. */
  readonly content: number;
}

/** Deletes messages and everything that belongs to them, inside a transaction. A batch's content goes with its last message. */
export function createMessageRemoval(db: Database): (rows: readonly RemovedMessage[]) => void {
  const perMessage = [
    // Before the message, since its row names its jobs.
    `DELETE FROM jobs WHERE ${OF_MESSAGE}`,
    "DELETE FROM messages WHERE id = ?",
    // Before the timeline, since its rows name the events.
    "DELETE FROM events WHERE number IN (SELECT event FROM timeline WHERE message_id = ?)",
    "DELETE FROM timeline WHERE message_id = ?",
    "DELETE FROM webhook_attempts WHERE webhook IN (SELECT id FROM webhooks WHERE message_id = ?)",
    "DELETE FROM webhooks WHERE message_id = ?",
    "DELETE FROM provider_ids WHERE message_id = ?",
    "DELETE FROM unconfirmed_parts WHERE message_id = ?",
    "DELETE FROM overdue_receipts WHERE message_id = ?",
  ].map((sql) => db.prepare(sql));
  const content = db.prepare(
    `DELETE FROM contents WHERE id = ?1 AND NOT EXISTS (
       SELECT 1 FROM messages m WHERE m.id >= contents.first_message_id AND m.id <= contents.last_message_id
         AND m.content = ?1)`,
  );
  return (rows) => {
    for (const row of rows) for (const statement of perMessage) statement.run(row.id);
    for (const id of new Set(rows.map((row) => row.content))) if (id !== OWN_CONTENT) content.run(id);
  };
}
