import type { KeyOwner } from "../../../core/messages/accept-request.ts";
import { type ShownRow, toStoredMessage } from "../../messages/message-page.ts";
import {
  type MessageRow,
  TIMELINE_COLUMNS,
  type TimelineRow,
  toTimelineEntry,
} from "../../messages/message-rows.ts";
import type { Intake } from "../../store.ts";
import type { Database } from "../database/database.ts";
import type { AccountCache } from "../records/account-cache.ts";
import { statusOf } from "./message-status.ts";
import { createEnvelopeOf } from "./own-content.ts";

/** The reading half of `Intake`. */
export function createMessageLookup(
  db: Database,
  accounts: AccountCache,
): Pick<Intake, "findMessage" | "timeline"> {
  // Without the id, which the caller has: each text that is read costs a string.
  const find = db.prepare<FoundRow>(
    `SELECT channel, content, recipient, ${statusOf("messages")} AS status, parts, sequence, position, error, envelope
     FROM messages WHERE id = ? AND account = ? AND channel = ?`,
  );
  const envelopeOf = createEnvelopeOf(db);
  const exists = db.prepare(
    "SELECT 1 FROM messages WHERE id = ?1 AND account = coalesce(?2, account) AND channel = coalesce(?3, channel)",
  );
  const history = db.prepare<TimelineRow>(
    `SELECT ${TIMELINE_COLUMNS} FROM timeline WHERE message_id = ? ORDER BY position`,
  );
  const numberOf = (accountId: string) => accounts.byId(accountId)?.number ?? -1;

  return {
    findMessage: (query) =>
      db.read(() => {
        const { id, accountId, channel } = query;
        const row = find.get(id, numberOf(accountId), channel);
        const envelope = row && envelopeOf(row);
        return !row || envelope === undefined ? undefined : toStoredMessage(row, { id, accountId, envelope });
      }),
    timeline: ({ id, accountId, channel }) =>
      db.read(() => {
        const account = accountId === undefined ? null : numberOf(accountId);
        return exists.get(id, account, channel ?? null) ? history.all(id).map(toTimelineEntry) : undefined;
      }),
  };
}

type FoundRow = Omit<ShownRow, "id"> & Pick<MessageRow, "content"> & { readonly envelope: string | null };

/** `Intake.findKeyOwner`. */
export function createKeyLookup(db: Database, accounts: AccountCache): Intake["findKeyOwner"] {
  const find = db.prepare<{ id: string; account_id: string }>(
    "SELECT id, account_id FROM api_keys WHERE digest = ? AND revoked_at IS NULL",
  );
  return (digest) =>
    db.read((): KeyOwner | undefined => {
      const key = find.get(digest);
      const entry = key && accounts.byId(key.account_id);
      return entry && { keyId: key.id, account: entry.account, settings: entry.settings };
    });
}
