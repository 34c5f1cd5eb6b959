import type { ChannelName } from "../../../core/messages/message.ts";
import { isUuid } from "../../../core/uuid.ts";
import { type ShownRow, toStoredMessage } from "../../messages/message-page.ts";
import { TIMELINE_COLUMNS, type TimelineRow, toTimelineEntry } from "../../messages/message-rows.ts";
import type { MessageStore } from "../../store.ts";
import type { Database } from "../database/transactions.ts";

/** `MessageStore.find`, `ownerOf` and `timeline`. A message's id says which day's tables to look in. */
export function createMessageLookup(db: Database): Pick<MessageStore, "find" | "ownerOf" | "timeline"> {
  return {
    async find({ id, accountId, channel }) {
      if (!isUuid(id)) return undefined;
      const [row] = await db.query<FoundRow>(FIND_MESSAGE, [id, channel, accountId]);
      return row && toStoredMessage(row, { id: row.id, accountId, envelope: row.envelope });
    },
    async ownerOf(id) {
      if (!isUuid(id)) return undefined;
      const [row] = await db.query<OwnerRow>(FIND_OWNER, [id]);
      return row && { accountId: row.account_id, channel: row.channel };
    },
    async timeline({ id, accountId, channel }) {
      if (!isUuid(id)) return undefined;
      const found = await db.query(IS_THERE, [id, channel ?? null, accountId ?? null]);
      if (found.length === 0) return undefined;
      const sql = `SELECT ${TIMELINE_COLUMNS} FROM timeline WHERE message_id = $1 ORDER BY position`;
      return (await db.query<TimelineRow>(sql, [id])).map(toTimelineEntry);
    },
  };
}

interface OwnerRow {
  readonly account_id: string;
  readonly channel: ChannelName;
}

const FIND_OWNER = `SELECT a.id AS account_id, m.channel FROM messages m JOIN accounts a ON a.number = m.account WHERE m.id = $1`;

type FoundRow = ShownRow & { readonly envelope: string };

const FIND_MESSAGE = `SELECT m.id, m.channel, m.recipient, m.status, m.parts, m.sequence, m.position, m.error, c.envelope
  FROM messages m JOIN contents c ON c.id = m.content WHERE m.id = $1 AND m.channel = $2
    AND m.account = (SELECT number FROM accounts WHERE accounts.id = $3)`;

const IS_THERE = `SELECT 1 FROM messages m WHERE m.id = $1 AND m.channel = coalesce($2::text, m.channel)
  AND ($3::text IS NULL OR m.account = (SELECT number FROM accounts WHERE accounts.id = $3))`;
