import { createOldRowUpkeep } from "../pass-over.ts";
import type { Database } from "./database/database.ts";

/** Old rows of a table, and how they are deleted. */
export interface OldRows<Row, Id> {
  /** Selects ?2 rows at most that may go, by the bound ?1. */
  readonly sql: string;
  readonly idOf: (row: Row) => Id;
  readonly nameOf: (id: Id) => string;
  readonly remove: (row: Row) => unknown;
  /** Runs at the end of the transaction; `waiting`: ids of rows that stay since they cannot be deleted. */
  readonly atEnd?: (limit: number, waiting: ReadonlySet<Id>) => void;
}

/** Makes a function that deletes at most `limit` old rows, and passes over those that cannot be deleted. Returns how many. */
export function createOldRowDeletion<Row, Id>(
  db: Database,
  { sql, idOf, nameOf, remove, atEnd }: OldRows<Row, Id>,
): (bound: number, now: number, limit: number) => Promise<number> {
  const select = db.prepare<Row>(sql);
  const upkeep = createOldRowUpkeep<Id>(nameOf);
  return (bound, now, limit) =>
    upkeep({
      limit,
      now,
      run: (most, waiting, take) =>
        db.write(() => {
          const found = select.all(bound, most + waiting.size);
          const rows = found.filter((row) => !waiting.has(idOf(row))).slice(0, most);
          take(rows.map(idOf));
          for (const row of rows) remove(row);
          atEnd?.(most, waiting);
          return rows.length;
        }, most),
    });
}
