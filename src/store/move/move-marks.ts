import { openDriver, type Driver as Source } from "../sqlite/database/driver.ts";
import { OPENINGS } from "../sqlite/database/meta.ts";
import { FILLER_ROWS } from "../sqlite/erasures/erase-free-pages.ts";
import { NAMES_TO } from "../sqlite/intake/key-merge.ts";

/** A row of `meta` in PostgreSQL while it is being filled: whose copy it is. With `.` and a number: how far that walk has come. */
export const MOVING = "moving_from";

/** A row of `meta` in SQLite once everything has moved to PostgreSQL: when that was. */
const MOVED = "moved_away_at";

/** Rows of `meta` that are not moved: the marks of the move, and what SQLite notes about its own tables. */
export const ONE_SIDED = `(name LIKE '${MOVING}%' OR name IN ('${MOVED}', '${OPENINGS}', '${NAMES_TO}') OR ${FILLER_ROWS})`;

/** Marks the database as moved; on disk before a service may start on the copy. */
export function leaveBehind(source: Source, now: number): void {
  source
    .prepare(
      "INSERT INTO meta (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value",
    )
    .run(MOVED, String(now));
}

/** Throws if this database has been moved. */
export function refuseWhatMoved(source: Source): void {
  const row = source.prepare<{ value: string }>("SELECT value FROM meta WHERE name = ?").get(MOVED);
  if (!row) return;
  const at = new Date(Number(row.value)).toISOString();
  throw new Error(
    `this database was moved to PostgreSQL at ${at}, and what it holds would be sent twice: set DATABASE_URL, or go back with migrate-to --cancel`,
  );
}

/** Throws if the database in this file has been moved. A process may be using it. */
export function refuseMovedFile(path: string): void {
  const driver = openDriver(path, { isReadOnly: true });
  try {
    driver.exec("PRAGMA busy_timeout = 2000");
    refuseWhatMoved(driver);
  } finally {
    driver.close();
  }
}

/** Removes the mark. True if there was one. */
export function comeBack(source: Source): boolean {
  return source.prepare("DELETE FROM meta WHERE name = ?").run(MOVED) > 0;
}
