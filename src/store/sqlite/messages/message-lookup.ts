import { type ShownRow, toStoredMessage } from "../../messages/message-page.ts";
import {
  type MessageRow,
  TIMELINE_COLUMNS,
  type TimelineRow,
  toTimelineEntry,
} from "../../messages/message-rows.ts";
import type { FindMessage, MessageStore } from "../../store.ts";
import type { Database } from "../database/database.ts";
import type { AccountCache } from "../records/account-cache.ts";
import { statusOf } from "./message-status.ts";
import { createEnvelopeOf } from "./own-content.ts";

/** `MessageStore.find` and `timeline`. */
export function createMessageLookup(
  db: Database,
  accounts: AccountCache,
): Pick<MessageStore, "find" | "timeline"> {
  // Without the id, which the caller has: each text that is read has to be made into a string.
  const select = db.prepare<FoundRow>(
    `SELECT account, channel, content, recipient, ${statusOf("messages")} AS status, parts, sequence, position, error,
       envelope FROM messages WHERE ${IS_MEANT}`,
  );
  const envelopeOf = createEnvelopeOf(db);
  const exists = db.prepare(`SELECT 1 FROM messages WHERE ${IS_MEANT}`);
  const history = db.prepare<TimelineRow>(
    `SELECT ${TIMELINE_COLUMNS} FROM timeline WHERE message_id = ? ORDER BY position`,
  );
  const valuesOf = ({ id, accountId, channel }: FindMessage) => {
    const account = accountId === undefined ? null : (accounts.byId(accountId)?.number ?? -1);
    return [id, account, channel ?? null] as const;
  };

  return {
    find: (query) =>
      db.read(() => {
        const row = select.get(...valuesOf(query));
        const envelope = row && envelopeOf(row);
        const owner = row && accounts.byNumber(row.account)?.account;
        if (!row || !owner || envelope === undefined) return undefined;
        return toStoredMessage(row, { id: query.id, accountId: owner.id, envelope });
      }),
    timeline: (query) =>
      db.read(() =>
        exists.get(...valuesOf(query)) ? history.all(query.id).map(toTimelineEntry) : undefined,
      ),
  };
}

/** ?1: the id; ?2: the account's number, and ?3: the channel, or NULL for any. */
const IS_MEANT = "id = ?1 AND account = coalesce(?2, account) AND channel = coalesce(?3, channel)";

type FoundRow = Omit<ShownRow, "id"> &
  Pick<MessageRow, "account" | "content"> & { readonly envelope: string | null };
