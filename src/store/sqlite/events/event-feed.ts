import { setImmediate } from "node:timers/promises";
import type { FeedEvent } from "../../../core/webhooks/feed-event.ts";
import { isPublic } from "../../../core/webhooks/webhook-event.ts";
import {
  MAX_PAGE_SIZE,
  NOTHING,
  type OtherColumns,
  type SizedEvent,
  toOther,
} from "../../events/feed-rows.ts";
import {
  joinContent,
  TIMELINE_COLUMNS,
  type TimelineRow,
  toTimelineEntry,
} from "../../messages/message-rows.ts";
import type { EventFeed, FeedPage } from "../../store.ts";
import type { Vault } from "../../vault.ts";
import type { Database } from "../database/database.ts";
import { readMeta, writeMeta } from "../database/meta.ts";
import { createEnvelopeOf } from "../messages/own-content.ts";
import type { AccountCache } from "../records/account-cache.ts";
import type { EventLog } from "./event-log.ts";

/** How many events are read in one go, with other work in between: a page of a thousand takes as long as hundreds of requests. */
const PIECE = 100;

export interface FeedParts {
  readonly accounts: AccountCache;
  readonly events: EventLog;
  readonly vault: Vault;
}

/** `Store.feed`: pages of events, each with its message and timeline entry. */
export function createEventFeed(db: Database, { accounts, events, vault }: FeedParts): EventFeed {
  const pieceOf = db.prepare<EventRow>(
    `SELECT number, message_id, position, at, id, type, data FROM events
     WHERE account = ? AND number > ? ORDER BY number LIMIT ?`,
  );
  const last = db.prepare<{ seq: number }>("SELECT seq FROM sqlite_sequence WHERE name = 'events'");
  const lastOf = db.prepare<{ last: number | null }>(
    "SELECT max(number) AS last FROM events WHERE account = ?",
  );
  const toEvent = createEventReader(db);
  const numberOf = (accountId: string) => accounts.byId(accountId)?.number ?? -1;

  /** Adds events to the page. Returns whether the page is complete. */
  const readPiece = (accountId: string, limit: number, page: OpenPage): boolean => {
    const rows = pieceOf.all(numberOf(accountId), page.next, Math.min(limit, PIECE));
    for (const row of rows) {
      const { event, size } = toEvent(row, accountId);
      page.characters += size;
      if (page.characters > MAX_PAGE_SIZE && page.events.length > 0) return true;
      page.next = row.number;
      if (event) page.events.push(event);
    }
    return rows.length < PIECE;
  };

  const readPage = async ({ accountId, after, limit }: FeedQuery): Promise<FeedPage> => {
    const page: OpenPage = { events: [], next: after, characters: 0 };
    for (let left = limit; ; left -= PIECE) {
      const isOver = await db.read(() => readPiece(accountId, left, page));
      if (isOver || left <= PIECE) return { events: page.events, next: page.next };
      await setImmediate();
    }
  };

  return {
    read: readPage,
    lastNumber: () => db.read(() => last.get()?.seq ?? 0),
    lastNumberOf: (accountId) => db.read(() => lastOf.get(numberOf(accountId))?.last ?? 0),
    cursorKey: createCursorKey(db, vault),
    numberEvents: async () => 0,
    onEvents: events.onEvents,
  };
}

/** `EventFeed.cursorKey`. Only written if it is missing: a full disk must not stop a reader. */
function createCursorKey(db: Database, vault: Vault): EventFeed["cursorKey"] {
  const find = () => readMeta(db, "event_cursor_key");
  const make = () => {
    const key = find() ?? vault.newSecret();
    writeMeta(db, "event_cursor_key", key);
    return key;
  };
  return async () => Buffer.from((await db.read(find)) ?? (await db.write(make)), "hex");
}

type FeedQuery = Parameters<EventFeed["read"]>[0];

/** A page while it is read. */
interface OpenPage {
  readonly events: FeedEvent[];
  next: number;
  characters: number;
}

interface EventRow extends OtherColumns {
  readonly number: number;
  readonly message_id: string | null;
  readonly position: number | null;
}

/** Looks up row after row: a join took three times as long. */
function createEventReader(db: Database): (row: EventRow, accountId: string) => SizedEvent {
  const findMessage = db.prepare<{ recipient: string; content: number; envelope: string | null }>(
    "SELECT recipient, content, envelope FROM messages WHERE id = ?",
  );
  const envelopeOf = createEnvelopeOf(db);
  const findEntry = db.prepare<TimelineRow>(
    `SELECT ${TIMELINE_COLUMNS} FROM timeline WHERE message_id = ? AND position = ?`,
  );

  const ofMessage = (id: string, position: number | null, accountId: string): SizedEvent => {
    const message = findMessage.get(id);
    const envelope = message && envelopeOf(message);
    const row = findEntry.get(id, position);
    const entry = row && toTimelineEntry(row);
    if (!message || envelope === undefined || !entry || !isPublic(entry)) return NOTHING;
    const { recipient } = message;
    const shown = { id, accountId, recipient, content: joinContent(envelope, null) };
    return { event: { kind: "message", message: shown, entry }, size: envelope.length };
  };

  return (row, accountId) =>
    row.message_id === null ? toOther(row) : ofMessage(row.message_id, row.position, accountId);
}
