import { createOldRowUpkeep } from "../pass-over.ts";
import type { Database } from "./database/database.ts";
import { createUnreadableRows, type Keys } from "./unreadable-rows.ts";

/** Old rows of a table, and how they are deleted. */
export interface OldRows<Row, Id, Key> {
  readonly table: string;
  /** Selects ?2 rows at most that may go, by the bound ?1, with keys above ?3 and in their order. */
  readonly sql: string;
  readonly keys: Keys<Key>;
  readonly keyOf: (row: Row) => Key;
  readonly idOf: (row: Row) => Id;
  readonly nameOf: (id: Id) => string;
  readonly remove: (row: Row) => unknown;
}

interface Deleted<Id> {
  /** At least 1 if there may be more. */
  readonly count: number;
  /** Ids of rows that stay since they cannot be deleted. */
  readonly waiting: ReadonlySet<Id>;
}

/** Makes a function that deletes at most `limit` old rows, and passes over those that cannot be deleted or read. */
export function createOldRowDeletion<Row, Id, Key extends number | string>(
  db: Database,
  { table, sql, keys, keyOf, idOf, nameOf, remove }: OldRows<Row, Id, Key>,
): (bound: number | string, now: number, limit: number) => Promise<Deleted<Id>> {
  const select = db.prepare<Row>(sql);
  const upkeep = createOldRowUpkeep<Id>(nameOf);
  const unreadable = createUnreadableRows<Key>(db, { table, keys });
  return async (bound, now, limit) => {
    let left: ReadonlySet<Id> = new Set();
    const from = unreadable.from(keys.start, now);
    if (from === undefined) return { count: 0, waiting: left };
    const next = (after: Key) => select.all(bound, 1, after).map(keyOf)[0];
    const count = await upkeep({
      limit,
      now,
      run(most, waiting, take) {
        left = waiting;
        return db.write(() => {
          const found = select.all(bound, most + waiting.size, from);
          const rows = found.filter((row) => !waiting.has(idOf(row))).slice(0, most);
          take(rows.map(idOf));
          for (const row of rows) remove(row);
          return rows.length;
        }, most);
      },
      passUnreadable: ({ size }) => unreadable.pass({ after: from, steps: size + 1, now, next }),
    });
    return { count, waiting: left };
  };
}
