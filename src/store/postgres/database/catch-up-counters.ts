import type { Driver } from "./driver.ts";
import { COUNTED } from "./expected-schema.ts";

/**
 * Makes counters go on from the highest number of their table where they are behind it: a logical replication copies rows and no
 * sequences. Otherwise requests would get a 500 until the counters had passed the numbers that are taken.
 */
export async function catchUpCounters(driver: Driver): Promise<void> {
  for (const { sql } of await driver.query<{ sql: string }>(BEHIND)) {
    await driver.hold((connection) => connection.exec(sql));
  }
}

/** The names in our schema need no quotes. */
const lastOf = (table: string, column: string) =>
  `coalesce(pg_sequence_last_value(pg_get_serial_sequence('${table}', '${column}')::regclass), 0)`;

/** Others may be at work: none of them takes a number while the table is locked, so that the counter never goes back. */
const catchUp = ({
  table,
  column,
}: (typeof COUNTED)[number]) => `BEGIN; LOCK TABLE ${table} IN SHARE ROW EXCLUSIVE MODE;
  SELECT setval(pg_get_serial_sequence('${table}', '${column}'), highest)
    FROM (SELECT max(${column}) AS highest FROM ${table}) AS t WHERE highest > ${lastOf(table, column)};
  COMMIT`;

/**
 * Searches only beyond the counter. The highest number of a table that is drained as fast as it is filled may be behind millions of rows
 * that are gone, and that a backup which is under way keeps from being cleared.
 */
const BEHIND = COUNTED.map(
  (counted) => `SELECT $sql$${catchUp(counted)}$sql$ AS sql
    WHERE (SELECT ${counted.column} FROM ${counted.table}
      WHERE ${counted.column} > (SELECT ${lastOf(counted.table, counted.column)}) ORDER BY 1 LIMIT 1) IS NOT NULL`,
).join(" UNION ALL ");
