import type { Session } from "../database/driver.ts";
import { lowestUuid } from "./days.ts";

/** How far the pruning of a day has come. */
export interface OldDay {
  readonly day: number;
  /** The message up to which the walk has come; `null`: the walk is over. */
  readonly position: string | null;
  /** Messages examined by the walk, and those of them that stay; by row, only those that stay for more than their quiet hours. */
  readonly seen: number;
  readonly kept: number;
  /** Whether so many messages stay that they cannot be copied to a new table. Then final ones are deleted row by row. */
  readonly is_by_row: boolean;
  /** Whether unfinished messages are deleted too. */
  readonly is_last: boolean;
  /** The `before` of the last walk, Unix milliseconds. */
  readonly walked_before: number;
  /** 1 if only contents that messages refer to are left. */
  readonly contents: 0 | 1;
}

export async function findOldDay(session: Session, day: number): Promise<OldDay | undefined> {
  return (await session.query<OldDay>("SELECT * FROM old_days WHERE day = $1", [day]))[0];
}

/** Begins a walk over the day's messages, from the first on. */
export async function beginWalk(
  session: Session,
  day: number,
  { isLast, isByRow }: { readonly isLast: boolean; readonly isByRow: boolean },
): Promise<OldDay> {
  await session.query("DELETE FROM kept_messages WHERE day = $1", [day]);
  const [row] = await session.query<OldDay>(BEGIN, [day, lowestUuid(day), isLast, isByRow]);
  if (!row) throw new Error("a day was not written");
  return row;
}

const BEGIN = `INSERT INTO old_days (day, position, is_last, is_by_row) VALUES ($1, $2, $3, $4)
  ON CONFLICT (day) DO UPDATE SET position = $2, seen = 0, kept = 0, is_last = $3, is_by_row = $4
  RETURNING *`;

interface Found {
  readonly position: string;
  readonly seen: number;
  /** Messages whose ids are to be stored. */
  readonly kept: readonly string[];
  /** How many to add to those that stay; absent: as many as are stored. */
  readonly counted?: number;
}

/** Notes how far the walk has come. */
export async function notePosition(session: Session, { day, seen }: OldDay, found: Found): Promise<OldDay> {
  const sql = "INSERT INTO kept_messages (day, id) SELECT $1, id FROM unnest($2::uuid[]) AS t (id)";
  if (found.kept.length > 0) await session.query(sql, [day, found.kept]);
  const [row] = await session.query<OldDay>(
    "UPDATE old_days SET position = $2, seen = $3, kept = kept + $4 WHERE day = $1 RETURNING *",
    [day, found.position, seen + found.seen, found.counted ?? found.kept.length],
  );
  if (!row) throw new Error(`day ${day} is not being pruned`);
  return row;
}

/** @param before that of the pruning; stored, so that the next walk begins some time later */
export async function endWalk(session: Session, day: number, before: number): Promise<void> {
  await session.query("DELETE FROM kept_messages WHERE day = $1", [day]);
  await session.query("UPDATE old_days SET position = NULL, walked_before = $2 WHERE day = $1", [
    day,
    before,
  ]);
}

/** To be called when only contents that messages refer to are left. */
export async function noteContentsReduced(session: Session, day: number): Promise<void> {
  await session.query("UPDATE old_days SET contents = 1 WHERE day = $1", [day]);
}

/** To be called when nothing of the day is left. */
export async function forgetOldDay(session: Session, day: number): Promise<void> {
  await session.query("DELETE FROM old_days WHERE day = $1", [day]);
}
