import type { Database } from "../database/database.ts";

/** The key of the last of the next rows, so many or, with a fraction, one more; `undefined`: there are fewer. */
type StretchEnd<Key> = (after: Key, rows: number) => Key | undefined;

/** Makes a function that finds where a stretch through a table ends. It reads keys only, not what may be damaged in their rows. */
export function createStretchEnd<Key extends number | string>(
  db: Database,
  { table, key }: { readonly table: string; readonly key: string },
): StretchEnd<Key> {
  const ends = db.prepare<{ key: Key }>(
    `SELECT ${key} AS key FROM ${table} WHERE ${key} > ? ORDER BY ${key} LIMIT 1 OFFSET ?`,
  );
  return (after, rows) => ends.get(after, Math.ceil(rows) - 1)?.key;
}
