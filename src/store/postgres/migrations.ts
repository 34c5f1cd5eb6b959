import first from "./migrations/0001_first.sql" with { type: "text" };
import leases from "./migrations/0002_leases.sql" with { type: "text" };
import holders from "./migrations/0003_holders.sql" with { type: "text" };
import tokensByHash from "./migrations/0004_tokens_by_hash.sql" with { type: "text" };
import sharing from "./migrations/0005_sharing.sql" with { type: "text" };
import parkedById from "./migrations/0006_parked_by_id.sql" with { type: "text" };

/** While one runs no transaction does: it is to look at no history, and to build no index over it. */
export interface Migration {
  readonly number: number;
  readonly name: string;
  readonly sql: string;
  /**
   * How many migrations a program must know at least to go on beside the result. What only adds (a table, an index, a
   * column with a default or none) keeps the number of the migration before it: then processes of the version before
   * work on while new ones start. What takes away or renames has its own number: the old ones are to be stopped first.
   */
  readonly worksWith: number;
}

/** In order; forward only. A file that has been released is never changed: its checksum is kept. */
export const MIGRATIONS: readonly Migration[] = [
  { number: 1, name: "0001_first", sql: first, worksWith: 1 },
  { number: 2, name: "0002_leases", sql: leases, worksWith: 2 },
  // A program that does not know holders would leave a job of its own under the name of one that had it before.
  { number: 3, name: "0003_holders", sql: holders, worksWith: 3 },
  { number: 4, name: "0004_tokens_by_hash", sql: tokensByHash, worksWith: 3 },
  // A program that does not know it reserves places at connectors for every process that takes turns.
  { number: 5, name: "0005_sharing", sql: sharing, worksWith: 3 },
  // A program that does not know it finds parked receipts by the other index.
  { number: 6, name: "0006_parked_by_id", sql: parkedById, worksWith: 3 },
];
