import { receivedEventId } from "../../../core/webhooks/received-event.ts";
import type { Retention } from "../../store.ts";
import { UNFINISHED } from "../../webhooks/webhook-rows.ts";
import type { Database } from "../database/database.ts";
import { createOldWalk } from "../old-walk.ts";

interface OldRow {
  readonly id: string;
  readonly received_at: number;
}

/** `Retention.pruneInbound`. */
export function createInboundPrune(db: Database): Retention["pruneInbound"] {
  const telling = db.prepare(`SELECT 1 FROM webhooks WHERE message_id = ? AND ${UNFINISHED} LIMIT 1`);
  // By its time as well, which the index has.
  const event = db.prepare("DELETE FROM events WHERE message_id IS NULL AND at = ? AND id = ?");
  const ofMessage = [
    "DELETE FROM webhook_attempts WHERE webhook IN (SELECT id FROM webhooks WHERE message_id = ?)",
    "DELETE FROM webhooks WHERE message_id = ?",
    "DELETE FROM inbound_messages WHERE id = ?",
  ].map((sql) => db.prepare(sql));
  return createOldWalk<OldRow>(db, {
    table: "inbound_messages",
    sql: "SELECT id, received_at FROM inbound_messages WHERE id > ? AND id < ? ORDER BY id LIMIT ?",
    isOver: ({ id }) => telling.get(id) === undefined,
    remove(rows) {
      for (const { id, received_at: at } of rows) {
        event.run(at, receivedEventId(id));
        for (const statement of ofMessage) statement.run(id);
      }
    },
  });
}
