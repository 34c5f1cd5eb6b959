import type { MessageStatus, Progress, TimelineEntry } from "../../../core/messages/message.ts";
import type { Step } from "../../../core/messages/step.ts";
import { fromParts, type MessageRow, toJson, toProgress } from "../../messages/message-rows.ts";
import { toldFailures } from "../../receipts/told-failure.ts";
import type { Database } from "../database/database.ts";
import type { EventLog } from "../events/event-log.ts";
import { createDropTold } from "../receipts/drop-told.ts";
import type { WebhookLog } from "../webhooks/webhook-log.ts";
import { createAppendEntries, type NewEntries } from "./append-entries.ts";
import { columnsOf, leasedColumnsOf } from "./message-status.ts";

/**
 * Reads and changes messages, with their timelines, inside a transaction. Changes are written at the end of the transaction, so an
 * answer and the receipt right after it become one update, and their entries lie side by side.
 */
export interface MessageLog {
  /** The message as it was last saved. */
  read(id: string): ReadMessage | undefined;
  /** The same, for a message whose job has been leased until now. */
  readLeased(id: string): ReadMessage | undefined;
  /** Saves the result of a step of `core/messages/progress.ts`. */
  save(message: MessageRow, step: Step): void;
  /** The saved entries of a message that are not written to its timeline yet. */
  unwrittenEntries(id: string): readonly TimelineEntry[];
  /** Wipes the body that is in the row of a message which this transaction has saved, and has not written yet. */
  wipe(id: string): void;
  /** Changes the status `from` to `to`, without a timeline entry. A message with another status stays as it is. */
  moveStatus(id: string, from: MessageStatus, to: MessageStatus): void;
}

export interface ReadMessage {
  /** The row as it was read. If they differ, `progress` is newer. */
  readonly row: MessageRow;
  readonly progress: Progress;
}

export function createMessageLog(db: Database, events: EventLog, webhooks: WebhookLog): MessageLog {
  const find = db.prepare<MessageRow>(`SELECT ${columnsOf("messages")} FROM messages WHERE id = ?`);
  const findLeased = db.prepare<MessageRow>(
    `SELECT ${leasedColumnsOf("messages")} FROM messages WHERE id = ?`,
  );
  const moveStatus = db.prepare("UPDATE messages SET status = ?3 WHERE id = ?1 AND status = ?2");

  const unwritten = createUnwritten(db, createAppendEntries(db, events));
  const dropTold = createDropTold(db);

  return {
    read: (id) => unwritten.get(id) ?? withProgress(find.get(id)),
    readLeased: (id) => unwritten.get(id) ?? withProgress(findLeased.get(id)),
    save(row, step) {
      const { progress, entries } = step;
      const { id: messageId, account, callback_host: host } = row;
      if (step.alsoParkedAt) dropTold(toldFailures(messageId, step));
      unwritten.add({ row, progress, entries });
      if (host !== null) webhooks.add({ messageId, account, host }, entries);
    },
    unwrittenEntries: unwritten.entriesOf,
    wipe: unwritten.wipe,
    moveStatus(id, from, to) {
      unwritten.write(id);
      moveStatus.run(id, from, to);
    },
  };
}

function withProgress(row: MessageRow | undefined): ReadMessage | undefined {
  return row && { row, progress: toProgress(row) };
}

interface SavedMessage extends ReadMessage {
  readonly isWiped?: boolean;
  readonly entries: readonly TimelineEntry[];
}

/** The messages that the transaction has saved and not written yet. */
function createUnwritten(db: Database, append: (all: readonly NewEntries[]) => void) {
  const progressed = "UPDATE messages SET status = ?, parts = ?, sequence = ?, position = ?, error = ?";
  const move = db.prepare(`${progressed} WHERE id = ?`);
  const moveAndWipe = db.prepare(`${progressed}, body = NULL WHERE id = ?`);
  const saved = new Map<string, SavedMessage>();
  const update = ({ row, progress, isWiped }: SavedMessage) => {
    const { status, parts, sequence, position, error } = progress;
    const write = isWiped ? moveAndWipe : move;
    write.run(status, fromParts(parts), sequence, position, toJson(error), row.id);
  };
  const writeAll = (messages: readonly SavedMessage[]) => {
    for (const message of messages) update(message);
    append(messages);
  };
  db.beforeEnd(() => {
    if (saved.size === 0) return;
    writeAll([...saved.values()]);
    saved.clear();
  });
  db.onRollback(() => saved.clear());
  return {
    get: (id: string): ReadMessage | undefined => saved.get(id),
    entriesOf: (id: string): readonly TimelineEntry[] => saved.get(id)?.entries ?? [],
    add({ row, progress, entries }: SavedMessage): void {
      const before = saved.get(row.id);
      if (before) saved.set(row.id, { ...before, row, progress, entries: before.entries.concat(entries) });
      else saved.set(row.id, { row, progress, entries });
    },
    wipe(id: string): void {
      const message = saved.get(id);
      if (message) saved.set(id, { ...message, isWiped: true });
    },
    /** Writes one message now. */
    write(id: string): void {
      const message = saved.get(id);
      if (!message) return;
      saved.delete(id);
      writeAll([message]);
    },
  };
}
