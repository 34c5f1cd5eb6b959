import { given, type RecordTable } from "../../records/record-tables.ts";
import type { Fields } from "../../records/record-values.ts";
import type { Session } from "../database/driver.ts";

export interface Wanted {
  readonly table: RecordTable;
  /** All fields of the record, with the values that it is to have. */
  readonly record: { readonly id: string };
  /** Whether the record exists already, and is to be changed. */
  readonly isThere: boolean;
}

/**
 * Finds the field whose value another record has already, by the table's unique indexes. To be asked before the record is written,
 * because PostgreSQL puts the values of a violation, such as a phone number, into its own log.
 */
export function createTakenField() {
  const known = new Map<string, readonly UniqueIndex[]>();
  const indexesOf = async (session: Session, { table }: RecordTable) => {
    const found = known.get(table) ?? (await session.query<UniqueIndex>(UNIQUE_INDEXES, [table]));
    known.set(table, found);
    return found;
  };

  return async (session: Session, { table, record, isThere }: Wanted): Promise<string | undefined> => {
    const fields = given(record);
    for (const { columns, condition } of await indexesOf(session, table)) {
      const named = columns.map((column) => fieldOf(table, column));
      const values = named.flatMap((field) => textOf(fields[field ?? ""]) ?? []);
      // A unique index takes no two NULLs for equal.
      if (values.length < columns.length || !holds(condition, table, fields)) continue;
      const tests = columns.map((column, at) => `${column} = $${at + 1}`);
      if (condition !== null) tests.push(condition);
      if (isThere) tests.push(`id <> $${values.push(record.id)}`);
      const sql = `SELECT 1 FROM ${table.table} WHERE ${tests.join(" AND ")} LIMIT 1`;
      if ((await session.query(sql, values)).length > 0) return named.at(-1);
    }
    return undefined;
  };
}

interface UniqueIndex {
  readonly columns: readonly string[];
  /** Which rows a partial index covers; `null` for other indexes. */
  readonly condition: string | null;
}

const UNIQUE_INDEXES = `SELECT json_agg(a.attname ORDER BY k.place) AS columns, pg_get_expr(i.indpred, i.indrelid) AS condition
  FROM pg_index i CROSS JOIN unnest(i.indkey) WITH ORDINALITY AS k (number, place)
  JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = k.number
  WHERE i.indrelid = to_regclass($1) AND i.indisunique GROUP BY i.indexrelid, i.indisprimary, i.indpred, i.indrelid
  ORDER BY i.indisprimary, i.indexrelid`;

function fieldOf({ columns }: RecordTable, name: string): string | undefined {
  return Object.keys(columns).find((field) => columns[field]?.name === name);
}

function textOf(value: unknown): string | undefined {
  return value === undefined || value === null ? undefined : String(value);
}

/** Whether a partial index covers the record. False for a condition of another form: then only the index itself can tell. */
function holds(condition: string | null, table: RecordTable, fields: Fields): boolean {
  if (condition === null) return true;
  const [, column, not] = /^\((\w+) IS (NOT )?NULL\)$/.exec(condition) ?? [];
  const field = column === undefined ? undefined : fieldOf(table, column);
  return field !== undefined && (textOf(fields[field]) !== undefined) === (not !== undefined);
}
