import { isUuid } from "../../../core/uuid.ts";
import { type ShownRow, toStoredMessage } from "../../messages/message-page.ts";
import { TIMELINE_COLUMNS, type TimelineRow, toTimelineEntry } from "../../messages/message-rows.ts";
import type { FindMessage, MessageStore } from "../../store.ts";
import type { Database } from "../database/transactions.ts";

/** `MessageStore.find` and `timeline`. A message's id says which day's tables to look in. */
export function createMessageLookup(db: Database): Pick<MessageStore, "find" | "timeline"> {
  return {
    async find(query) {
      if (!isUuid(query.id)) return undefined;
      const [row] = await db.query<FoundRow>(FIND_MESSAGE, valuesOf(query));
      return row && toStoredMessage(row, { id: row.id, accountId: row.account_id, envelope: row.envelope });
    },
    async timeline(query) {
      if (!isUuid(query.id)) return undefined;
      const found = await db.query(IS_THERE, valuesOf(query));
      if (found.length === 0) return undefined;
      const sql = `SELECT ${TIMELINE_COLUMNS} FROM timeline WHERE message_id = $1 ORDER BY position`;
      return (await db.query<TimelineRow>(sql, [query.id])).map(toTimelineEntry);
    },
  };
}

function valuesOf({ id, channel, accountId }: FindMessage) {
  return [id, channel ?? null, accountId ?? null];
}

/** In the order of `valuesOf`; NULL: any channel, any account. */
const IS_MEANT = `m.id = $1 AND m.channel = coalesce($2::text, m.channel)
  AND ($3::text IS NULL OR m.account = (SELECT number FROM accounts WHERE accounts.id = $3))`;

const IS_THERE = `SELECT 1 FROM messages m WHERE ${IS_MEANT}`;

type FoundRow = ShownRow & { readonly account_id: string; readonly envelope: string };

const FIND_MESSAGE = `SELECT m.id, m.channel, m.recipient, m.status, m.parts, m.sequence, m.position, m.error, c.envelope,
    (SELECT a.id FROM accounts a WHERE a.number = m.account) AS account_id
  FROM messages m JOIN contents c ON c.id = m.content WHERE ${IS_MEANT}`;
