import type { Database } from "../database/database.ts";
import type { Walk } from "./erasures.ts";

/** Rows of `meta` that take up room for the moment, and say nothing. */
export const ROOM_ROWS = "name LIKE 'room %'";

/** Taken in one stretch: 1 MiB of the usual size. */
const MAX_PAGES = 256;

/** Given back in one stretch, of as many pages each. */
const MAX_ROWS = 4;

/**
 * Pages that are free hold what lay there until they are used again: bodies that were wiped, rows that were pruned. So
 * all of them are used once, by rows of nothing, and given back.
 */
export function createRoomErasure(db: Database): Walk {
  const free = db.prepare<{ freelist_count: number }>("PRAGMA freelist_count");
  const size = db.prepare<{ page_size: number }>("PRAGMA page_size");
  const take = db.prepare("INSERT INTO meta (name, value) VALUES (?, ?)");
  const giveBack = db.prepare(
    `DELETE FROM meta WHERE name IN
       (SELECT name FROM meta WHERE name >= 'room 0' AND name < 'room :' LIMIT ${MAX_ROWS})`,
  );
  const freePages = () => free.get()?.freelist_count ?? 0;
  /** A page of a long value begins with the number of the next. */
  const filler = (pages: number) => " ".repeat(pages * ((size.get()?.page_size ?? 0) - 4));

  return (_task, position) => {
    if (position === GIVE_BACK) return giveBack.run() < MAX_ROWS ? {} : { next: GIVE_BACK };
    // No more than were free at first: others free pages too.
    const left = position === "" ? freePages() : Number(position);
    const pages = Math.min(left, freePages(), MAX_PAGES);
    if (pages <= 0) return { next: GIVE_BACK };
    take.run(`room ${left}`, filler(pages));
    return { next: String(left - pages) };
  };
}

const GIVE_BACK = "give back";
