import first from "./migrations/0001_first.sql" with { type: "text" };
import leases from "./migrations/0002_leases.sql" with { type: "text" };
import holders from "./migrations/0003_holders.sql" with { type: "text" };
import tokensByHash from "./migrations/0004_tokens_by_hash.sql" with { type: "text" };
import sharing from "./migrations/0005_sharing.sql" with { type: "text" };
import parkedById from "./migrations/0006_parked_by_id.sql" with { type: "text" };
import interruptions from "./migrations/0007_interruptions.sql" with { type: "text" };
import erasureBounds from "./migrations/0008_erasure_bounds.sql" with { type: "text" };
import partsOver from "./migrations/0009_parts_over.sql" with { type: "text" };
import optOutsByRecipient from "./migrations/0010_opt_outs_by_recipient.sql" with { type: "text" };
import published from "./migrations/0011_published.sql" with { type: "text" };

/** While a migration runs no other transaction can. So it must not read through the history, nor build an index over it. */
export interface Migration {
  readonly number: number;
  readonly name: string;
  readonly sql: string;
  /**
   * How many migrations a program must know at least to work with the result. A migration that only adds (a table, an index, a
   * column that inserts may leave out) keeps the number of the one before it: then processes of the earlier version go on
   * while new ones start. A migration that removes or renames has its own number: the old processes have to be stopped first.
   */
  readonly worksWith: number;
}

/** In order; forward only. A file that has been released is never changed: its checksum is kept. */
export const MIGRATIONS: readonly Migration[] = [
  { number: 1, name: "0001_first", sql: first, worksWith: 1 },
  { number: 2, name: "0002_leases", sql: leases, worksWith: 2 },
  // An earlier program does not know holders: it would claim a job and leave the name of its last holder on it.
  { number: 3, name: "0003_holders", sql: holders, worksWith: 3 },
  { number: 4, name: "0004_tokens_by_hash", sql: tokensByHash, worksWith: 3 },
  // An earlier program does not know `is_sharing`: it reserves slots of connectors for every process that has a heartbeat.
  { number: 5, name: "0005_sharing", sql: sharing, worksWith: 3 },
  // Drops an index. An earlier program finds parked receipts by the other one.
  { number: 6, name: "0006_parked_by_id", sql: parkedById, worksWith: 3 },
  // An earlier program does not count interruptions: which claim was interrupted is not known then.
  { number: 7, name: "0007_interruptions", sql: interruptions, worksWith: 3 },
  // An earlier program bounds an erasure by its own id: what is ahead of that stays.
  { number: 8, name: "0008_erasure_bounds", sql: erasureBounds, worksWith: 3 },
  // An earlier program stores what is left of a message for the connector that names it.
  { number: 9, name: "0009_parts_over", sql: partsOver, worksWith: 3 },
  { number: 10, name: "0010_opt_outs_by_recipient", sql: optOutsByRecipient, worksWith: 3 },
  { number: 11, name: "0011_published", sql: published, worksWith: 3 },
];
