import type { Database } from "./database.ts";
import type { SqlValue, Statement } from "./driver.ts";

export interface RowTable {
  readonly into: string;
  /** Names, separated by ", ". */
  readonly columns: string;
  /** SQL after the rows: an ON CONFLICT clause. */
  readonly otherwise?: string;
}

/**
 * Inserts rows, given as one list of all their values, row after row. Returns the rowid of the last one. `end`: how many of the
 * values to use; absent: all.
 */
type RowInsert = (values: readonly SqlValue[], end?: number) => number;

/** How many rows a statement inserts. The largest that fits is used: most of a statement's cost does not depend on its rows. */
export const ROWS_PER_STATEMENT = [16, 4, 1];

export function createRowInsert(db: Pick<Database, "prepare">, table: RowTable): RowInsert {
  const { into, columns, otherwise = "" } = table;
  const width = columns.split(", ").length;
  const row = `(${Array(width).fill("?").join(", ")})`;
  const statements = ROWS_PER_STATEMENT.map((rows) => ({
    // Reused for every run of the statement, so that no list has to be made.
    bound: new Array<SqlValue>(rows * width).fill(null),
    statement: db.prepare(
      `INSERT INTO ${into} (${columns}) VALUES ${Array(rows).fill(row).join(", ")} ${otherwise}`,
    ),
  }));
  return (values, end = values.length) => {
    let at = 0;
    let last = 0;
    for (const { bound, statement } of statements) {
      while (end - at >= bound.length) {
        for (let index = 0; index < bound.length; index++) bound[index] = values[at++] ?? null;
        last = insertAndForget(statement, bound);
      }
    }
    return last;
  };
}

/** Clears the reused list after the statement, whatever becomes of it: it must not keep values of messages. */
function insertAndForget(statement: Statement<unknown>, bound: SqlValue[]): number {
  try {
    return statement.insert(bound);
  } finally {
    bound.fill(null);
  }
}

interface LateRows {
  /** Adds values of the current row: all at once, or in several calls. */
  push(...values: readonly SqlValue[]): void;
}

/** Collects rows, and inserts them at the end of the transaction. */
export function createLateRows(db: Database, table: RowTable): LateRows {
  const insert = createRowInsert(db, table);
  // Emptied, but never shortened: a list that grows again in each transaction costs three times its size.
  const values: SqlValue[] = [];
  let end = 0;
  const forget = () => {
    values.fill(null, 0, end);
    end = 0;
  };
  db.beforeEnd(() => {
    insert(values, end);
    forget();
  });
  db.onRollback(forget);
  return {
    push(...more) {
      for (let index = 0; index < more.length; index++) values[end++] = more[index] ?? null;
    },
  };
}
