import type { Database } from "../database/database.ts";
import { onceATransaction } from "../database/once-a-transaction.ts";
import { createKeyMerge } from "./key-merge.ts";
import { createRecentNames } from "./recent-names.ts";

/** Finds the row of an idempotency key by the first bytes of its name. */
export interface KeyNumbers {
  /** The number that the name was given last; its row may be gone. */
  find(name: string): number | undefined;
  /** `find`, inside a transaction, where nobody else writes. */
  findHere(name: string): number | undefined;
  /** Numbers a new row of that name, which has to be written in this transaction. */
  add(name: string): number;
}

/**
 * Names have no order: an index of them that is written at once is written a page for each. So the latest ones are
 * in memory, and in the index only what is older; see `createKeyMerge`.
 *
 * @param generation names that go to the index together; up to three times as many are in memory
 */
export function createKeyNumbers(db: Database, generation: number): KeyNumbers {
  const recent = createRecentNames(db);
  const indexed = db.prepare<{ number: number }>("SELECT number FROM key_names WHERE name = ?");
  const merge = createKeyMerge(db, { recent, generation });
  const looked = onceATransaction(db, recent.look);
  const find = (name: string) => recent.get(name) ?? indexed.get(Buffer.from(name, "latin1"))?.number;

  return {
    find(name) {
      recent.look();
      return find(name);
    },
    findHere(name) {
      looked.get();
      return find(name);
    },
    add(name) {
      looked.get();
      merge.goOn();
      return recent.add(name);
    },
  };
}
