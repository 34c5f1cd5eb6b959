import type { TimelineEntry } from "../../core/message.ts";
import type { Step } from "../../core/progress.ts";
import { isPublic } from "../../core/webhook-event.ts";
import { fromParts, MESSAGE_COLUMNS, type MessageRow } from "../message-rows.ts";
import type { Database } from "./database.ts";
import type { EventBook } from "./event-book.ts";
import type { WebhookLog } from "./webhook-log.ts";

/** Messages read and moved inside a transaction, with the entries of their timeline. */
export interface MessageLog {
  find(id: string): MessageRow | undefined;
  /** Writes what a step of `core/progress.ts` came to. */
  save(message: SavedMessage, step: Step): void;
  /** Moves `from` to `to`; another status stays. No entry. */
  turn(id: string, from: string, to: string): void;
}

/** What of a message never changes, and has to be known to save it. */
export type SavedMessage = Pick<MessageRow, "id" | "account" | "callback_host">;

export function createMessageLog(db: Database, events: EventBook, webhooks: WebhookLog): MessageLog {
  const find = db.prepare<MessageRow>(`SELECT ${MESSAGE_COLUMNS} FROM messages WHERE id = ?`);
  const update = db.prepare(
    "UPDATE messages SET status = ?, parts = ?, sequence = ?, position = ?, error = ? WHERE id = ?",
  );
  const insert = db.prepare(
    `INSERT INTO timeline (message_id, position, at, kind, status, sequence, event_type, recipient, error, detail, event)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  const turn = db.prepare("UPDATE messages SET status = ?3 WHERE id = ?1 AND status = ?2");

  const append = ({ id: messageId, account }: SavedMessage, entry: TimelineEntry) =>
    insert.run(
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
      isPublic(entry) ? events.addEntry(account, { messageId, position: entry.position }) : null,
    );

  return {
    find: (id) => find.get(id),
    save(message, { progress, entries }) {
      const { status, parts, sequence, position, error } = progress;
      const { id: messageId, account, callback_host: host } = message;
      update.run(status, fromParts(parts), sequence, position, toJson(error), messageId);
      for (const entry of entries) append(message, entry);
      if (host !== null) webhooks.add({ messageId, account, host }, entries);
    },
    turn: (id, from, to) => void turn.run(id, from, to),
  };
}

function toJson(value: object | undefined): string | null {
  return value === undefined ? null : JSON.stringify(value);
}
