import { createOldRowUpkeep } from "../../pass-over.ts";
import type { Database } from "../database/transactions.ts";

/** Old rows of a table, and how they are deleted. */
export interface OldRows {
  /** Selects and locks the `id` of $2 rows at most that may go, by the bound $1, without those whose ids are in $3. */
  readonly select: string;
  /** Deletes the rows whose ids are in $1. */
  readonly remove: string;
  readonly nameOf: (id: string) => string;
}

/** Makes a function that deletes at most `limit` old rows, and passes over those that cannot be deleted. Returns how many. */
export function createOldRowDeletion(
  db: Database,
  { select, remove, nameOf }: OldRows,
): (bound: number | string, now: number, limit: number) => Promise<number> {
  const upkeep = createOldRowUpkeep<string>(nameOf);
  return (bound, now, limit) =>
    upkeep({
      limit,
      now,
      run: (most, waiting, take) =>
        db.transaction(async (session) => {
          const rows = await session.query<{ id: string }>(select, [bound, most, [...waiting]]);
          const ids = rows.map(({ id }) => id);
          take(ids);
          if (ids.length > 0) await session.query(remove, [ids]);
          return ids.length;
        }),
    });
}
