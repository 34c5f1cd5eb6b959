import type { Database } from "./database.ts";

/** The row numbers that one of `of` connections to a database may give: those with the remainder `index`, modulo `of`. */
export interface NumberShare {
  readonly index: number;
  readonly of: number;
}

/** Makes a table's counter, which returns a new number at each call. */
export type RowNumbers = (table: "jobs" | "contents" | "accounts") => () => number;

const ALL: NumberShare = { index: 0, of: 1 };

/**
 * Numbers rows, never twice in this process: under a reused number a job could be taken for the earlier one, and an account
 * for a deleted one that another thread remembers.
 */
export function createRowNumbers(db: Database, { index, of }: NumberShare = ALL): RowNumbers {
  return (table) => {
    const { last } =
      db.prepare<{ last: number | null }>(`SELECT max(rowid) AS last FROM ${table}`).get() ?? {};
    let number = Math.floor((last ?? 0) / of) * of + index;
    return () => {
      number += of;
      return number;
    };
  };
}
