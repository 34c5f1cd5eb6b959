import type { OtherEvent } from "../../core/feed-event.ts";
import type { AccountBook } from "./account-book.ts";
import { createBell } from "./bell.ts";
import type { Database } from "./database.ts";

/** The feed as transactions write it. */
export interface EventBook {
  /** Numbers the public entry of a message's timeline at `position`. */
  addEntry(messageId: string, position: number): number;
  /** Adds an event that is about no message of ours. */
  addOther(account: number, event: OtherEvent): void;
  /** After the commit, with the account's id. */
  onEvents(listener: (accountId: string) => void): () => void;
}

export function createEventBook(db: Database, accounts: AccountBook): EventBook {
  const bell = createBell<number>(db);
  const addEntry = db.prepare<{ number: number; account: number }>(
    `INSERT INTO events (account, message_id, position) SELECT account, id, ?2 FROM messages WHERE id = ?1
     RETURNING number, account`,
  );
  const addOther = db.prepare("INSERT INTO events (account, at, id, type, data) VALUES (?, ?, ?, ?, ?)");
  return {
    addEntry(messageId, position) {
      const event = addEntry.get(messageId, position);
      if (!event) throw new Error("an event of a message that is not there");
      bell.ring(event.account);
      return event.number;
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
