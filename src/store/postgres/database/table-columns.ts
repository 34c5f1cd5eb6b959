import type { Session } from "./driver.ts";

export interface Column {
  readonly name: string;
  /** As PostgreSQL names it. */
  readonly type: string;
}

/** Whether there is a table of this name. */
export async function isThere(session: Session, name: string): Promise<boolean> {
  const [row] = await session.query<{ name: string | null }>("SELECT to_regclass($1)::text AS name", [name]);
  return row?.name != null;
}

/** The table's columns, in their order. */
export function columnsOf(session: Session, table: string): Promise<readonly Column[]> {
  return session.query<Column>(
    `SELECT attname::text AS name, format_type(atttypid, atttypmod) AS type FROM pg_attribute
     WHERE attrelid = $1::text::regclass AND attnum > 0 AND NOT attisdropped ORDER BY attnum`,
    [table],
  );
}

/** Makes the counters of all tables go on from the highest number, after rows were written with numbers of their own. */
export async function setCounters(session: Session): Promise<void> {
  for (const { table, column } of await session.query<{ table: string; column: string }>(COUNTED)) {
    await session.query(
      `SELECT setval(pg_get_serial_sequence($1, $2), (SELECT max(${column}) FROM ${table}))`,
      [table, column],
    );
  }
}

const COUNTED = `SELECT c.relname::text AS table, a.attname::text AS column
  FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
  WHERE a.attidentity <> '' AND c.relnamespace = quote_ident(current_schema)::regnamespace`;
