import type { OtherEvent } from "../../core/feed-event.ts";
import type { AccountBook } from "./account-book.ts";
import { createBell } from "./bell.ts";
import type { Database } from "./database.ts";

/** The feed as transactions write it. */
export interface EventBook {
  /** Numbers a public entry of the timeline of one of the account's messages. */
  addEntry(account: number, entry: { readonly messageId: string; readonly position: number }): number;
  /** Adds an event that is about no message of ours. */
  addOther(account: number, event: OtherEvent): void;
  /** After the commit, with the account's id. */
  onEvents(listener: (accountId: string) => void): () => void;
}

export function createEventBook(db: Database, accounts: AccountBook): EventBook {
  const bell = createBell<number>(db);
  const addEntry = db.prepare("INSERT INTO events (account, message_id, position) VALUES (?, ?, ?)");
  const addOther = db.prepare("INSERT INTO events (account, at, id, type, data) VALUES (?, ?, ?, ?, ?)");
  return {
    addEntry(account, { messageId, position }) {
      bell.ring(account);
      return addEntry.insert(account, messageId, position);
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
