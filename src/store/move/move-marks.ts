import { openDriver, type Driver as Source } from "../sqlite/database/driver.ts";
import { OPENINGS } from "../sqlite/database/meta.ts";
import { ROOM_ROWS } from "../sqlite/erasures/erase-room.ts";
import { NAMES_TO } from "../sqlite/intake/key-merge.ts";

/** In `meta` of PostgreSQL while it is being filled: whose copy it is. With a point and a number: how far a walk has come. */
export const MOVING = "moving_from";

/** In `meta` of SQLite once all of it lives in PostgreSQL: since when. */
const MOVED = "moved_away_at";

/** Rows of `meta` that one side has for itself: the marks of the move, and what SQLite keeps of its own tables. */
export const ONE_SIDED = `(name LIKE '${MOVING}%' OR name IN ('${MOVED}', '${OPENINGS}', '${NAMES_TO}') OR ${ROOM_ROWS})`;

/** On disk before the copy may be started on. */
export function leaveBehind(source: Source, now: number): void {
  source
    .prepare(
      "INSERT INTO meta (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value",
    )
    .run(MOVED, String(now));
}

/** Throws where all of this database lives elsewhere. */
export function refuseWhatMoved(source: Source): void {
  const row = source.prepare<{ value: string }>("SELECT value FROM meta WHERE name = ?").get(MOVED);
  if (!row) return;
  const at = new Date(Number(row.value)).toISOString();
  throw new Error(
    `this database was moved to PostgreSQL at ${at}, and what it holds would be sent twice: set DATABASE_URL, or go back with migrate-to --cancel`,
  );
}

/** The same, also while a process is at work on the database. */
export function refuseMoved(path: string): void {
  const driver = openDriver(path, { isReadOnly: true });
  try {
    driver.exec("PRAGMA busy_timeout = 2000");
    refuseWhatMoved(driver);
  } finally {
    driver.close();
  }
}

/** True if it had moved. */
export function comeBack(source: Source): boolean {
  return source.prepare("DELETE FROM meta WHERE name = ?").run(MOVED) > 0;
}
