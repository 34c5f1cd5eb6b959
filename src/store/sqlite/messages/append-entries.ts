import type { TimelineEntry } from "../../../core/messages/message.ts";
import { isPublic } from "../../../core/webhooks/webhook-event.ts";
import { type MessageRow, toJson } from "../../messages/message-rows.ts";
import type { Database } from "../database/database.ts";
import type { SqlValue } from "../database/driver.ts";
import { createRowInsert } from "../database/row-insert.ts";
import type { EventLog } from "../events/event-log.ts";

export interface NewEntries {
  readonly row: Pick<MessageRow, "id" | "account">;
  readonly entries: readonly TimelineEntry[];
}

const COLUMNS =
  "message_id, position, at, kind, status, sequence, event_type, recipient, error, detail, event";

/** Adds entries to the timelines of messages, inside a transaction; public ones become events of the feed. */
export function createAppendEntries(
  db: Database,
  events: Pick<EventLog, "addEntries">,
): (all: readonly NewEntries[]) => void {
  const insert = createRowInsert(db, { into: "timeline", columns: COLUMNS });
  return (all) => {
    let event = events.addEntries(all.flatMap(publicOf));
    const values: SqlValue[] = [];
    for (const { row, entries } of all) {
      for (const entry of entries) values.push(...toValues(row.id, entry), isPublic(entry) ? event++ : null);
    }
    insert(values);
  };
}

function publicOf({ row: { id: messageId, account }, entries }: NewEntries) {
  return entries.filter(isPublic).map(({ position }) => ({ account, messageId, position }));
}

function toValues(messageId: string, entry: TimelineEntry): readonly SqlValue[] {
  return [
    messageId,
    entry.position,
    entry.at,
    entry.kind,
    entry.status,
    entry.sequence ?? null,
    entry.eventType ?? null,
    entry.recipient ?? null,
    toJson(entry.error),
    toJson(entry.detail),
  ];
}
