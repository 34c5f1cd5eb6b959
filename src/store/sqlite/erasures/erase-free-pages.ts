import type { Database } from "../database/database.ts";
import type { Walk } from "./erasures.ts";

/** Rows of `meta` that hold nothing but blanks, for a while; see `createFreePageErasure`. */
export const FILLER_ROWS = "name LIKE 'room %'";

/** How many pages to fill in one stretch: 1 MiB, if they have the usual size. */
const MAX_PAGES = 256;

/** How many filler rows to delete in one stretch. Each fills `MAX_PAGES` at most. */
const MAX_ROWS = 4;

/**
 * Free pages of the database file still hold what was wiped or pruned there, until they are used again. So all of them are
 * overwritten once, by rows of blanks, which are then deleted.
 */
export function createFreePageErasure(db: Database): Walk {
  const free = db.prepare<{ freelist_count: number }>("PRAGMA freelist_count");
  const size = db.prepare<{ page_size: number }>("PRAGMA page_size");
  const take = db.prepare("INSERT INTO meta (name, value) VALUES (?, ?)");
  const giveBack = db.prepare(
    `DELETE FROM meta WHERE name IN
       (SELECT name FROM meta WHERE name >= 'room 0' AND name < 'room :' LIMIT ${MAX_ROWS})`,
  );
  const freePages = () => free.get()?.freelist_count ?? 0;
  /** A value that fills this many pages. Each page of a long value begins with the number of the next one, in 4 octets. */
  const filler = (pages: number) => " ".repeat(pages * ((size.get()?.page_size ?? 0) - 4));

  return (_task, { position, goesOnAt }) => {
    if (position === GIVE_BACK) return giveBack.run() < MAX_ROWS ? {} : { next: GIVE_BACK };
    // No more pages than were free at first, since more may be freed meanwhile.
    const left = position === "" ? freePages() : Number(position);
    const pages = Math.min(left, freePages(), MAX_PAGES);
    if (pages <= 0) return { next: GIVE_BACK };
    goesOnAt(GIVE_BACK);
    take.run(`room ${left}`, filler(pages));
    return { next: String(left - pages) };
  };
}

const GIVE_BACK = "give back";
