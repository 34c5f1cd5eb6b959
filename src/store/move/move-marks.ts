import { MOVED, MOVING, NAMES_TO, OPENINGS, PASSED_OVER_OF } from "../meta.ts";
import { openDriver, type Driver as Source } from "../sqlite/database/driver.ts";
import { readMeta, removeMeta, writeMeta } from "../sqlite/database/meta.ts";
import { FILLER_ROWS } from "../sqlite/erasures/erase-free-pages.ts";

/** Rows of `meta` that are not moved: the marks of the move, and what SQLite notes about its own tables, and of erasures, which begin again. */
export const ONE_SIDED = `(name LIKE '${MOVING}%' OR name LIKE '${PASSED_OVER_OF}%' OR name IN ('${MOVED}', '${OPENINGS}', '${NAMES_TO}') OR ${FILLER_ROWS})`;

/** Marks the database as moved; on disk before a service may start on the copy. */
export function leaveBehind(source: Source, now: number): void {
  writeMeta(source, MOVED, String(now));
}

/** Throws if this database has been moved. */
export function refuseWhatMoved(source: Source): void {
  const movedAt = readMeta(source, MOVED);
  if (movedAt === undefined) return;
  const at = new Date(Number(movedAt)).toISOString();
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
  return removeMeta(source, MOVED);
}
