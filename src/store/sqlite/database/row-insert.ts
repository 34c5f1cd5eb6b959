import type { Database } from "./database.ts";
import type { SqlValue, Statement } from "./driver.ts";

export interface RowTable {
  readonly into: string;
  /** With commas between them. */
  readonly columns: string;
  /** What follows the rows: what to do where one is there already. */
  readonly otherwise?: string;
}

/**
 * Inserts rows, given as their values one after the other; the number of the last where the table numbers its rows.
 * `end`: how many of the values count; absent: all.
 */
type RowInsert = (values: readonly SqlValue[], end?: number) => number;

/** Rows in one statement: of what a statement costs most is not for its rows. */
export const AT_ONCE = [16, 4, 1];

export function createRowInsert(db: Pick<Database, "prepare">, table: RowTable): RowInsert {
  const { into, columns, otherwise = "" } = table;
  const width = columns.split(", ").length;
  const row = `(${Array(width).fill("?").join(", ")})`;
  const statements = AT_ONCE.map((rows) => ({
    // Filled again for every statement that runs: nothing is made for it.
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

/** What was in a message is not to be kept here, whatever becomes of the statement. */
function insertAndForget(statement: Statement<unknown>, bound: SqlValue[]): number {
  try {
    return statement.insert(bound);
  } finally {
    bound.fill(null);
  }
}

interface LateRows {
  /** Values of the next row, all of them or one part after the other. */
  push(...values: readonly SqlValue[]): void;
}

/** Collects values of rows until the end of the transaction. */
export function createLateRows(db: Database, table: RowTable): LateRows {
  const insert = createRowInsert(db, table);
  // It keeps its length, and nothing of what was in it: a list that grows anew in each transaction costs thrice its size.
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
