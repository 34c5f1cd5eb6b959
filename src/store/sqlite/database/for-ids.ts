import type { Database } from "./database.ts";
import type { SqlValue } from "./driver.ts";
import { ROWS_PER_STATEMENT } from "./row-insert.ts";

/** Runs a statement for many ids; `values` are bound before them. */
type ForIds = (ids: readonly SqlValue[], ...values: readonly SqlValue[]) => void;

/** @param sql has to end with `IN`; a list of ids is appended */
export function createForIds(db: Pick<Database, "prepare">, sql: string): ForIds {
  const statements = ROWS_PER_STATEMENT.map((count) => ({
    count,
    statement: db.prepare(`${sql} (${Array(count).fill("?").join(", ")})`),
  }));
  return (ids, ...values) => {
    let at = 0;
    for (const { count, statement } of statements) {
      for (; ids.length - at >= count; at += count) statement.run(...values, ...ids.slice(at, at + count));
    }
  };
}
