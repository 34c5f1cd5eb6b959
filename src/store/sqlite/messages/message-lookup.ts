import type { ChannelName } from "../../../core/messages/message.ts";
import { type ShownRow, toStoredMessage } from "../../messages/message-page.ts";
import {
  type MessageRow,
  TIMELINE_COLUMNS,
  type TimelineRow,
  toTimelineEntry,
} from "../../messages/message-rows.ts";
import type { MessageStore } from "../../store.ts";
import type { Database } from "../database/database.ts";
import type { AccountCache } from "../records/account-cache.ts";
import { statusOf } from "./message-status.ts";
import { createEnvelopeOf } from "./own-content.ts";

/** `MessageStore.find`, `ownerOf` and `timeline`. */
export function createMessageLookup(
  db: Database,
  accounts: AccountCache,
): Pick<MessageStore, "find" | "ownerOf" | "timeline"> {
  // Without the id, which the caller has: each text that is read has to be made into a string.
  const select = db.prepare<FoundRow>(
    `SELECT channel, content, recipient, ${statusOf("messages")} AS status, parts, sequence, position, error, envelope
     FROM messages WHERE id = ? AND account = ? AND channel = ?`,
  );
  const envelopeOf = createEnvelopeOf(db);
  const selectOwner = db.prepare<{ account: number; channel: ChannelName }>(
    "SELECT account, channel FROM messages WHERE id = ?",
  );
  const exists = db.prepare(
    "SELECT 1 FROM messages WHERE id = ?1 AND account = coalesce(?2, account) AND channel = coalesce(?3, channel)",
  );
  const history = db.prepare<TimelineRow>(
    `SELECT ${TIMELINE_COLUMNS} FROM timeline WHERE message_id = ? ORDER BY position`,
  );
  const numberOf = (accountId: string) => accounts.byId(accountId)?.number ?? -1;

  return {
    find: (query) =>
      db.read(() => {
        const { id, accountId, channel } = query;
        const row = select.get(id, numberOf(accountId), channel);
        const envelope = row && envelopeOf(row);
        return !row || envelope === undefined ? undefined : toStoredMessage(row, { id, accountId, envelope });
      }),
    ownerOf: (id) =>
      db.read(() => {
        const row = selectOwner.get(id);
        const account = row && accounts.byNumber(row.account)?.account;
        return row && account && { accountId: account.id, channel: row.channel };
      }),
    timeline: ({ id, accountId, channel }) =>
      db.read(() => {
        const account = accountId === undefined ? null : numberOf(accountId);
        return exists.get(id, account, channel ?? null) ? history.all(id).map(toTimelineEntry) : undefined;
      }),
  };
}

type FoundRow = Omit<ShownRow, "id"> & Pick<MessageRow, "content"> & { readonly envelope: string | null };
