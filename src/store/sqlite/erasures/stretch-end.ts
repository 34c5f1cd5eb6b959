import type { Database } from "../database/database.ts";
import { type Keys, readOrPass } from "../unreadable-rows.ts";

interface Stretch<Key> {
  readonly after: Key;
  /** How many rows; a fraction counts as one more. */
  readonly rows: number;
}

/**
 * The key of the last of the next rows; `undefined`: there are fewer. Calls `tell` with it, or if the next row cannot be read, since its page
 * is damaged, with the first key behind which there may be one that can; `undefined`: there is none.
 */
type StretchEnd<Key> = (stretch: Stretch<Key>, tell?: (end: Key | undefined) => void) => Key | undefined;

/** Makes a function that finds where a stretch through a table ends. It reads keys only, not what else may be damaged in their rows. */
export function createStretchEnd<Key extends number | string>(
  db: Database,
  { table, key, keys }: { readonly table: string; readonly key: string; readonly keys: Keys<Key> },
): StretchEnd<Key> {
  const ends = db.prepare<{ key: Key }>(
    `SELECT ${key} AS key FROM ${table} WHERE ${key} > ? ORDER BY ${key} LIMIT 1 OFFSET ?`,
  );
  const next = (after: Key) => ends.get(after, 0)?.key;
  return ({ after, rows }, tell = () => undefined) => {
    const end = readOrPass(() => ends.get(after, Math.ceil(rows) - 1)?.key, { keys, after, next }, tell);
    tell(end);
    return end;
  };
}
