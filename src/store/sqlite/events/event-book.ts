import type { OtherEvent } from "../../../core/webhooks/feed-event.ts";
import { createBell } from "../database/bell.ts";
import type { Database } from "../database/database.ts";
import { createRowInsert } from "../database/row-insert.ts";
import type { AccountBook } from "../records/account-book.ts";

/** Adds events to the feed, within transactions. */
export interface EventBook {
  /** Gives public timeline entries consecutive numbers; returns the first. */
  addEntries(entries: readonly NumberedEntry[]): number;
  /** Adds an event about an inbound message. */
  addOther(account: number, event: OtherEvent): void;
  /** Calls `listener` after the commit, with the account's id. */
  onEvents(listener: (accountId: string) => void): () => void;
}

interface NumberedEntry {
  /** Whose message it is. */
  readonly account: number;
  readonly messageId: string;
  readonly position: number;
}

export function createEventBook(db: Database, accounts: AccountBook): EventBook {
  const bell = createBell<number>(db);
  const insert = createRowInsert(db, { into: "events", columns: "account, message_id, position" });
  const addOther = db.prepare("INSERT INTO events (account, at, id, type, data) VALUES (?, ?, ?, ?, ?)");
  return {
    addEntries(entries) {
      for (const { account } of entries) bell.ring(account);
      const values = entries.flatMap(({ account, messageId, position }) => [account, messageId, position]);
      return insert(values) - entries.length + 1;
    },
    addOther(account, { at, id, type, data }) {
      addOther.run(account, at, id, type, JSON.stringify(data));
      bell.ring(account);
    },
    onEvents: (listener) =>
      bell.onRing((number) => {
        const entry = accounts.byNumber(number);
        if (entry) listener(entry.account.id);
      }),
  };
}
