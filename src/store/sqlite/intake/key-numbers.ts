import type { Database } from "../database/database.ts";
import { oncePerTransaction } from "../database/once-per-transaction.ts";
import { createKeyMerge } from "./key-merge.ts";
import { createRecentNames } from "./recent-names.ts";

/** Finds the row number of an idempotency key by its name: the first half of its digest, as latin1 text. */
export interface KeyNumbers {
  /** The number that was last given to the name. Its row may be gone. */
  find(name: string): number | undefined;
  /** `find` inside a transaction, while nobody else writes: cheaper from the second call on. */
  findInTransaction(name: string): number | undefined;
  /** Gives the name a new number; the caller writes its row in this transaction. */
  add(name: string): number;
}

/**
 * Names are digests, so each new one belongs on another page of the index, and writing it at once would cost a page. So the latest
 * names are kept in memory, and only older ones are in the index; see `createKeyMerge`.
 *
 * @param generation how many names are merged into the index together; up to three times as many are in memory
 */
export function createKeyNumbers(db: Database, generation: number): KeyNumbers {
  const recent = createRecentNames(db);
  const indexed = db.prepare<{ number: number }>("SELECT number FROM key_names WHERE name = ?");
  const merge = createKeyMerge(db, { recent, generation });
  const caughtUp = oncePerTransaction(db, recent.catchUp);
  const find = (name: string) => recent.get(name) ?? indexed.get(Buffer.from(name, "latin1"))?.number;

  return {
    find(name) {
      recent.catchUp();
      return find(name);
    },
    findInTransaction(name) {
      caughtUp.get();
      return find(name);
    },
    add(name) {
      caughtUp.get();
      merge.keyAdded();
      return recent.add(name);
    },
  };
}
