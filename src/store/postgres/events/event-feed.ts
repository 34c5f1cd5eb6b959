import type { FeedEvent } from "../../../core/webhooks/feed-event.ts";
import { isPublic } from "../../../core/webhooks/webhook-event.ts";
import {
  MAX_PAGE_SIZE,
  NOTHING,
  type OtherColumns,
  type SizedEvent,
  toOther,
} from "../../events/feed-rows.ts";
import { joinContent, type TimelineRow, toTimelineEntry } from "../../messages/message-rows.ts";
import type { EventFeed } from "../../store.ts";
import type { Vault } from "../../vault.ts";
import type { Session } from "../database/driver.ts";
import { readCursorKey } from "../database/meta.ts";
import type { Database } from "../database/transactions.ts";
import { NUMBERS_ROW } from "./event-numbers-row.ts";
import { createNumberEvents, type NumberingParts } from "./number-events.ts";

interface FeedParts extends NumberingParts {
  readonly vault: Vault;
}

/** `Store.feed`. */
export function createEventFeed(db: Database, parts: FeedParts): EventFeed {
  return {
    async read({ accountId, after, limit }) {
      const rows = await db.query<EventRow>(PAGE, [accountId, after, limit]);
      const found = await findMessages(db, rows);
      const events: FeedEvent[] = [];
      let next = after;
      let octets = 0;
      for (const row of rows) {
        const { event, size } =
          row.position === 0
            ? toOther({ ...row, id: row.event_id })
            : toMessageEvent(found.get(row.number), accountId);
        octets += size;
        if (octets > MAX_PAGE_SIZE && next > after) break;
        next = row.number;
        if (event) events.push(event);
      }
      return { events, next };
    },
    async lastNumber() {
      const [row] = await db.query<{ last: number }>(LAST);
      return row?.last ?? 0;
    },
    async lastNumberOf(accountId) {
      const [row] = await db.query<{ number: number }>(LAST_OF, [accountId]);
      return row?.number ?? 0;
    },
    cursorKey: () => readCursorKey(db, parts.vault),
    numberEvents: createNumberEvents(db, parts),
    onEvents: parts.notifier.subscribe,
  };
}

interface EventRow extends Omit<OtherColumns, "id"> {
  readonly number: number;
  readonly subject_id: string;
  readonly position: number;
  readonly event_id: string | null;
}

/** Without the messages that they are about: `FIND` looks these up by their ids, each in the tables of its day. */
const PAGE = `SELECT number, subject_id, position, event_id, at, type, data FROM events
  WHERE account = (SELECT accounts.number FROM accounts WHERE id = $1) AND number > $2 ORDER BY number LIMIT $3`;

const LAST = `SELECT last FROM event_numbers WHERE ctid = ${NUMBERS_ROW}`;

const LAST_OF = `SELECT number FROM events
  WHERE account = (SELECT accounts.number FROM accounts WHERE id = $1) ORDER BY number DESC LIMIT 1`;

interface FoundRow extends TimelineRow {
  readonly event_number: number;
  readonly id: string;
  readonly message_recipient: string;
  /** `null` if it lies beyond `MAX_PAGE_SIZE`. */
  readonly envelope: string | null;
  readonly octets: number;
}

async function findMessages(
  session: Session,
  rows: readonly EventRow[],
): Promise<ReadonlyMap<number, FoundRow>> {
  const ofMessages = rows.filter(({ position }) => position > 0);
  if (ofMessages.length === 0) return new Map();
  const found = await session.query<FoundRow>(FIND, [
    ofMessages.map(({ subject_id }) => subject_id),
    ofMessages.map(({ position }) => position),
    ofMessages.map(({ number }) => number),
  ]);
  return new Map(found.map((row) => [row.event_number, row]));
}

/** Contents beyond `MAX_PAGE_SIZE` are measured, but not read. */
const FIND = `SELECT event_number, id, message_recipient, octets,
    CASE WHEN turn = 1 OR sum <= ${MAX_PAGE_SIZE} THEN envelope END AS envelope,
    position, at, kind, status, sequence, event_type, recipient, error, detail
  FROM (SELECT p.number AS event_number, m.id, m.recipient AS message_recipient, c.envelope, t.*,
      octet_length(c.envelope) AS octets, row_number() OVER w AS turn, sum(octet_length(c.envelope)) OVER w AS sum
    FROM unnest($1::uuid[], $2::int[], $3::bigint[]) AS p (subject_id, position, number)
    JOIN messages m ON m.id = p.subject_id JOIN contents c ON c.id = m.content
    JOIN timeline t ON t.message_id = p.subject_id AND t.position = p.position
    WINDOW w AS (ORDER BY p.number)) AS measured`;

function toMessageEvent(row: FoundRow | undefined, accountId: string): SizedEvent {
  if (!row) return NOTHING;
  const entry = toTimelineEntry(row);
  if (row.envelope === null || !isPublic(entry)) return { event: undefined, size: row.octets };
  const { id, message_recipient: recipient } = row;
  const message = { id, accountId, recipient, content: joinContent(row.envelope, null) };
  return { event: { kind: "message", message, entry }, size: row.octets };
}
