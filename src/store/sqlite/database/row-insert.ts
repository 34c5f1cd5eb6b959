import type { Database } from "./database.ts";
import type { SqlValue } from "./driver.ts";

export interface RowTable {
  readonly into: string;
  /** With commas between them. */
  readonly columns: string;
  /** What follows the rows: what to do where one is there already. */
  readonly otherwise?: string;
}

/** Inserts rows, given as their values one after the other; the number of the last where the table numbers its rows. */
type RowInsert = (values: readonly SqlValue[]) => number;

/** Rows in one statement: of what a statement costs most is not for its rows. */
export const AT_ONCE = [16, 4, 1];

export function createRowInsert(db: Pick<Database, "prepare">, table: RowTable): RowInsert {
  const { into, columns, otherwise = "" } = table;
  const width = columns.split(", ").length;
  const row = `(${Array(width).fill("?").join(", ")})`;
  const statements = AT_ONCE.map((rows) => ({
    length: rows * width,
    statement: db.prepare(
      `INSERT INTO ${into} (${columns}) VALUES ${Array(rows).fill(row).join(", ")} ${otherwise}`,
    ),
  }));
  return (values) => {
    let at = 0;
    let last = 0;
    for (const { length, statement } of statements) {
      for (; values.length - at >= length; at += length) {
        last = statement.insert(...(values.length === length ? values : values.slice(at, at + length)));
      }
    }
    return last;
  };
}

/** Collects values of rows until the end of the transaction. */
export function createLateRows(
  db: Database,
  table: RowTable,
): { push(...values: readonly SqlValue[]): void } {
  const insert = createRowInsert(db, table);
  const values: SqlValue[] = [];
  const forget = () => {
    values.length = 0;
  };
  db.beforeEnd(() => {
    insert(values);
    forget();
  });
  db.onRollback(forget);
  return { push: (...row) => void values.push(...row) };
}
