import type { TimelineEntry } from "../../../core/messages/message.ts";
import { isPublic, type PublicEntry } from "../../../core/webhooks/webhook-event.ts";
import type { EventKey } from "../../../core/webhooks/webhook-outbox.ts";
import { OVERTAKEN_AFTER_FAILURES, toLane } from "../../webhooks/webhook-rows.ts";
import type { CommitNotifier } from "../database/commit-notifier.ts";
import type { Database } from "../database/database.ts";

/** A message, and the host that its webhooks go to. */
export interface Callback {
  readonly messageId: string;
  readonly account: number;
  readonly host: string;
}

/** What other transactions do to the outbox: add events, and release those that wait for an earlier one. */
export interface WebhookLog {
  /** Adds an event for each public entry. */
  add(callback: Callback, entries: readonly TimelineEntry[]): void;
  /** To be called when the event no longer holds back the message's next one. Makes that one ready if it is held. */
  letNextGo(event: EventKey): void;
  /** Whether the message's event before it is unfinished and has not failed often enough to be overtaken. */
  isBlocked(event: EventKey): boolean;
}

export function createWebhookLog(db: Database, notifier: Pick<CommitNotifier<string>, "notify">): WebhookLog {
  const insert = db.prepare(
    `INSERT INTO webhooks (message_id, sequence, position, account, lane, event_type, state, at)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  const blocking = db.prepare(
    `SELECT 1 FROM webhooks WHERE message_id = ? AND sequence = ?
       AND state NOT IN ('delivered', 'failed') AND failures < ${OVERTAKEN_AFTER_FAILURES}`,
  );
  // Looked up first, since most events have no next one, and a read is cheaper than an update.
  const findHeld = db.prepare<{ id: number; lane: string }>(
    "SELECT id, lane FROM webhooks WHERE message_id = ? AND sequence = ? AND state = 'held'",
  );
  const letGo = db.prepare("UPDATE webhooks SET state = 'ready' WHERE id = ?");
  const isBlocked = ({ messageId, sequence }: EventKey) =>
    sequence > 1 && blocking.get(messageId, sequence - 1) !== undefined;

  const addOne = ({ messageId, account, host }: Callback, entry: PublicEntry) => {
    const { sequence, position, eventType, at } = entry;
    const lane = toLane(account, host);
    const state = isBlocked({ messageId, sequence }) ? "held" : "ready";
    insert.run(messageId, sequence, position, account, lane, eventType, state, at);
    if (state === "ready") notifier.notify(lane);
  };

  return {
    add(callback, entries) {
      for (const entry of entries) if (isPublic(entry)) addOne(callback, entry);
    },
    letNextGo({ messageId, sequence }) {
      const next = findHeld.get(messageId, sequence + 1);
      if (!next) return;
      letGo.run(next.id);
      notifier.notify(next.lane);
    },
    isBlocked,
  };
}
