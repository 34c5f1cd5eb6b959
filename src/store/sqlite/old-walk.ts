import { firstUuidAt } from "../../core/uuid.ts";
import { createPutOffRows, passOver } from "../pass-over.ts";
import { createPruneRound } from "../prune-round.ts";
import type { Retention } from "../store.ts";
import type { Database } from "./database/database.ts";

/** What a walk over old rows deletes, and how. */
export interface OldRows<Row> {
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
 * it waits there for rows that become old, until the next round. Rows that cannot be deleted keep no others.
 */
export function createOldWalk<Row extends { readonly id: string }>(
  db: Database,
  { sql, isOver, remove }: OldRows<Row>,
): Retention["pruneMessages"] {
  const old = db.prepare<Row>(sql);
  const round = createPruneRound();
  const putOff = createPutOffRows<string>();

  /** Deletes rows that are so old that they go whatever they are. They are always the oldest, so no position is kept. */
  const pruneOldest = ({ atLatest, limit }: Bounds, { waits, remove }: Removal<Row>): number => {
    const rows = old.all("", firstUuidAt(atLatest), limit + waits.size);
    const over = rows.filter(({ id }) => !waits.has(id)).slice(0, limit);
    remove(over);
    return over.length;
  };
  const pruneFrom = (last: string, bounds: Bounds, { waits, remove }: Removal<Row>) => {
    const maxExamined = bounds.limit * EXAMINED_PER_LIMIT;
    const rows = old.all(last, firstUuidAt(bounds.before), maxExamined);
    const over = rows
      .values()
      .filter((row) => !waits.has(row.id) && isOver(row, bounds))
      .take(bounds.limit)
      .toArray();
    remove(over);
    const isAtLimit = over.length === bounds.limit;
    const isAtEnd = !isAtLimit && rows.length < maxExamined;
    const lastExamined = isAtLimit ? over.at(-1) : rows.at(-1);
    return { pruned: over.length, last: lastExamined?.id ?? last, isAtEnd };
  };
  const prune = async (bounds: Bounds, take: Take) => {
    const last = round.from(bounds.before);
    const removal = { waits: new Set(putOff.ids(bounds.before)), remove: removing(remove, take) };
    const work = () => pruneOldest(bounds, removal) || pruneFrom(last, bounds, removal);
    const done = await db.write(work, bounds.limit);
    if (typeof done === "number") return done;
    // Only now, since what was rolled back has to be examined again.
    round.goOn(done);
    return done.isAtEnd ? done.pruned : Math.max(1, done.pruned);
  };
  return (bounds) =>
    passOver({
      limit: Math.min(bounds.limit, MAX_PRUNED),
      now: bounds.before,
      run: (limit, take: Take) => prune({ ...bounds, limit }, take),
      putOff: async ({ message_id }, dueAt) => putOff.add(message_id, dueAt),
    });
}

/** Names the rows before it deletes them. */
function removing<Row extends { readonly id: string }>(remove: Removal<Row>["remove"], take: Take) {
  return (rows: readonly Row[]) => {
    take(rows.map(({ id }) => ({ message_id: id })));
    remove(rows);
  };
}

type Take = (rows: readonly { readonly message_id: string }[]) => void;

interface Removal<Row> {
  /** Ids of rows that are put off. */
  readonly waits: ReadonlySet<string>;
  readonly remove: (rows: readonly Row[]) => void;
}
