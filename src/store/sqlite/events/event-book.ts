import type { OtherEvent } from "../../../core/webhooks/feed-event.ts";
import { createBell } from "../database/bell.ts";
import type { Database } from "../database/database.ts";
import { createRowInsert } from "../database/row-insert.ts";
import type { AccountBook } from "../records/account-book.ts";

/** The feed as transactions write it. */
export interface EventBook {
  /** Numbers public entries of timelines, one after the other; gives the first number. */
  addEntries(entries: readonly NumberedEntry[]): number;
  /** Adds an event that is about no message of ours. */
  addOther(account: number, event: OtherEvent): void;
  /** After the commit, with the account's id. */
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
