import type { Database } from "./database.ts";

/** Which numbers are this connection's, of `of` that write to one database: those that leave the remainder `index`. */
export interface NumberShare {
  readonly index: number;
  readonly of: number;
}

/** Makes the counter of a table. */
export type RowNumbers = (table: "jobs" | "contents") => () => number;

const ALL: NumberShare = { index: 0, of: 1 };

/** Numbers rows, never twice in this process: a number that came back would pass for the job it once was. */
export function createRowNumbers(db: Database, { index, of }: NumberShare = ALL): RowNumbers {
  return (table) => {
    const { last } = db.prepare<{ last: number | null }>(`SELECT max(id) AS last FROM ${table}`).get() ?? {};
    let number = Math.floor((last ?? 0) / of) * of + index;
    return () => {
      number += of;
      return number;
    };
  };
}
