import type { Session } from "../database/driver.ts";
import { lowestUuid } from "./days.ts";

/** How far a day whose retention is over has come on its way out. */
export interface OldDay {
  readonly day: number;
  /** Up to where the walk over its messages has come; `null`: it is over. */
  readonly position: string | null;
  /** Messages looked at, and those of them that stay. */
  readonly seen: number;
  readonly kept: number;
  /** Too many stay for a table of their own: those that are final go row by row. */
  readonly is_by_row: boolean;
  /** What is unfinished goes too. */
  readonly is_last: boolean;
  readonly walked_before: number;
  /** 1: without those that nobody refers to. 2: gone. */
  readonly contents: 0 | 1 | 2;
}

export async function findOldDay(session: Session, day: number): Promise<OldDay | undefined> {
  return (await session.query<OldDay>("SELECT * FROM old_days WHERE day = $1", [day]))[0];
}

/** A walk over the day's messages, from the first on. */
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

/** The walk has come further. */
export async function notePosition(
  session: Session,
  { day, seen }: OldDay,
  found: { readonly position: string; readonly seen: number; readonly kept: readonly string[] },
): Promise<OldDay> {
  const sql = "INSERT INTO kept_messages (day, id) SELECT $1, id FROM unnest($2::uuid[]) AS t (id)";
  if (found.kept.length > 0) await session.query(sql, [day, found.kept]);
  const [row] = await session.query<OldDay>(
    "UPDATE old_days SET position = $2, seen = $3, kept = kept + $4 WHERE day = $1 RETURNING *",
    [day, found.position, seen + found.seen, found.kept.length],
  );
  if (!row) throw new Error("a day is not there");
  return row;
}

/** `before`: the next walk need not begin until some time later than that. */
export async function endWalk(session: Session, day: number, before: number): Promise<void> {
  await session.query("DELETE FROM kept_messages WHERE day = $1", [day]);
  await session.query("UPDATE old_days SET position = NULL, walked_before = $2 WHERE day = $1", [
    day,
    before,
  ]);
}

export async function noteContents(session: Session, day: number, contents: 1 | 2): Promise<void> {
  const sql =
    contents === 2
      ? "DELETE FROM old_days WHERE day = $1"
      : "UPDATE old_days SET contents = 1 WHERE day = $1";
  await session.query(sql, [day]);
}
