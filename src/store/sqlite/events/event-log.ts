import type { OtherEvent } from "../../../core/webhooks/feed-event.ts";
import { createCommitNotifier } from "../database/commit-notifier.ts";
import type { Database } from "../database/database.ts";
import { createRowInsert } from "../database/row-insert.ts";
import type { AccountCache } from "../records/account-cache.ts";

/** Adds events to the feed, within transactions. */
export interface EventLog {
  /** Gives public timeline entries consecutive numbers; returns the first. */
  addEntries(entries: readonly NumberedEntry[]): number;
  /** Adds an event about an inbound message. */
  addOther(account: number, event: OtherEvent): void;
  /** Calls `listener` after the commit, with the account's id. */
  onEvents(listener: (accountId: string) => void): () => void;
}

interface NumberedEntry {
  /** The number of the message's account. */
  readonly account: number;
  readonly messageId: string;
  readonly position: number;
}

export function createEventLog(db: Database, accounts: AccountCache): EventLog {
  const notifier = createCommitNotifier<number>(db);
  const insert = createRowInsert(db, { into: "events", columns: "account, message_id, position" });
  const addOther = db.prepare("INSERT INTO events (account, at, id, type, data) VALUES (?, ?, ?, ?, ?)");
  return {
    addEntries(entries) {
      for (const { account } of entries) notifier.notify(account);
      const values = entries.flatMap(({ account, messageId, position }) => [account, messageId, position]);
      return insert(values) - entries.length + 1;
    },
    addOther(account, { at, id, type, data }) {
      addOther.run(account, at, id, type, JSON.stringify(data));
      notifier.notify(account);
    },
    onEvents: (listener) =>
      notifier.subscribe((number) => {
        const entry = accounts.byNumber(number);
        if (entry) listener(entry.account.id);
      }),
  };
}
