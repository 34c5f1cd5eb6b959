import { firstUuidAt } from "../../core/uuid.ts";
import { createOldRowUpkeep } from "../pass-over.ts";
import { createPruneRound } from "../prune-round.ts";
import type { Retention } from "../store.ts";
import type { Database } from "./database/database.ts";
import type { Statement } from "./database/driver.ts";
import { createUnreadableRows, type UnreadableRows, UUIDS } from "./unreadable-rows.ts";

/** What a walk over old rows deletes, and how. */
export interface OldRows<Row> {
  readonly table: string;
  /** Selects the rows with ids above ?1 and below ?2, in order of id, ?3 at most. */
  readonly sql: string;
  /** Whether a row goes once it is past its retention; otherwise it stays until the latest day. */
  readonly isOver: (row: Row, bounds: Bounds) => boolean;
  readonly remove: (rows: readonly Row[]) => void;
}

type Bounds = Parameters<Retention["pruneMessages"]>[0];

/** How many rows one call deletes. With everything that belongs to it, a message takes some ten statements. */
const MAX_PRUNED = 100;

/** How many rows one call examines, as a multiple of its limit: those that are not over are skipped. */
const EXAMINED_PER_LIMIT = 4;

/**
 * Walks through the old rows in order of id; each call goes on where the last one ended. Returns at least 1 until the end. Then
 * it waits there for rows that become old, until the next round. Rows that cannot be examined, deleted or even read keep no others.
 */
export function createOldWalk<Row extends { readonly id: string }>(
  db: Database,
  { table, sql, isOver, remove }: OldRows<Row>,
): Retention["pruneMessages"] {
  const old = db.prepare<Row>(sql);
  const round = createPruneRound();
  const upkeep = createOldRowUpkeep<string>((id) => `message ${id}`);
  const unreadable = createUnreadableRows<string>(db, { table, keys: UUIDS });

  const { pruneOldest, pruneFrom } = createStretches(old, { isOver, remove, unreadable });
  const lastOf = ({ before }: Bounds) => unreadable.from(round.from(before), before);
  const prune = async (bounds: Bounds, removal: Removal) => {
    const last = lastOf(bounds);
    if (last === undefined) return 0;
    const work = () => pruneOldest(bounds, removal) || pruneFrom(last, bounds, removal);
    const done = await db.write(work, bounds.limit);
    if (typeof done === "number") return done;
    // Only now, since what was rolled back has to be examined again.
    round.goOn(done);
    return done.isAtEnd ? done.pruned : Math.max(1, done.pruned);
  };
  const pass = createPass(old, unreadable);
  return (bounds) => {
    const limit = Math.min(bounds.limit, MAX_PRUNED);
    return upkeep({
      limit: limit * EXAMINED_PER_LIMIT,
      now: bounds.before,
      run: (most, waits, take) => prune({ ...bounds, limit: Math.min(limit, most) }, { most, waits, take }),
      passUnreadable: ({ size }) => pass(bounds, lastOf(bounds), size),
    });
  };
}

interface StretchParts<Row> extends Pick<OldRows<Row>, "isOver" | "remove"> {
  readonly unreadable: UnreadableRows<string>;
}

function createStretches<Row extends { readonly id: string }>(
  old: Statement<Row>,
  { isOver, remove, unreadable }: StretchParts<Row>,
) {
  /** Deletes rows that are so old that they go whatever they are. They are always the oldest, so no position is kept. */
  const pruneOldest = ({ atLatest, limit, before }: Bounds, { waits, take }: Removal): number => {
    const from = unreadable.from("", before);
    const rows = from === undefined ? [] : old.all(from, firstUuidAt(atLatest), limit + waits.size);
    const over = rows.filter(({ id }) => !waits.has(id)).slice(0, limit);
    take(over.map(({ id }) => id));
    remove(over);
    return over.length;
  };
  const pruneFrom = (last: string, bounds: Bounds, { most, waits, take }: Removal) => {
    const rows = old.all(last, firstUuidAt(bounds.before), most);
    const examined = rows.filter(({ id }) => !waits.has(id));
    take(examined.map(({ id }) => id));
    const over = examined
      .values()
      .filter((row) => isOver(row, bounds))
      .take(bounds.limit)
      .toArray();
    remove(over);
    const isAtLimit = over.length === bounds.limit;
    const isAtEnd = !isAtLimit && rows.length < most;
    const lastExamined = isAtLimit ? over.at(-1) : rows.at(-1);
    return { pruned: over.length, last: lastExamined?.id ?? last, isAtEnd };
  };
  return { pruneOldest, pruneFrom };
}

/** Makes a function that passes over what cannot be read: where the oldest rows are, or else where the walk stands. */
function createPass(old: Statement<{ readonly id: string }>, unreadable: UnreadableRows<string>) {
  const pass = async (after: string | undefined, end: number, { steps, now }: Steps) => {
    const next = (from: string) => old.all(from, firstUuidAt(end), 1)[0]?.id;
    return after === undefined ? undefined : unreadable.pass({ after, steps, now, next });
  };
  return async ({ before: now, atLatest }: Bounds, last: string | undefined, waiting: number) => {
    const oldest = await pass(unreadable.from("", now), atLatest, { steps: waiting + 1, now });
    return oldest ?? pass(last, now, { steps: 1, now });
  };
}

interface Steps {
  readonly steps: number;
  readonly now: number;
}

interface Removal {
  /** The most rows to examine. */
  readonly most: number;
  /** Ids of rows that are put off. */
  readonly waits: ReadonlySet<string>;
  /** To be called with ids before anything is done that may fail because of one of them. */
  readonly take: (ids: readonly string[]) => void;
}
