import { HOUR_MS } from "../../../core/time/durations.ts";
import { firstUuidAt } from "../../../core/uuid.ts";
import type { Retention } from "../../store.ts";
import type { Database } from "../database/transactions.ts";
import { createOldRowDeletion } from "./old-row-deletion.ts";

/** Deletes at most `limit` rows from before `before`; returns how many. */
type PruneOld = (before: number, limit: number) => Promise<number>;

/** `Retention.pruneReceived`: each kind in a transaction of its own. */
export function createPruneReceived(db: Database): Retention["pruneReceived"] {
  const prunes = [createPruneSandbox(db), createPruneUsage(db), createPruneParked(db)];
  return async (before, limit) => {
    let rows = 0;
    for (const prune of prunes) rows += await prune(before, limit);
    return rows;
  };
}

function createPruneSandbox(db: Database): PruneOld {
  const prune = createOldRowDeletion(db, {
    select: "SELECT id FROM sandbox_messages WHERE id < $1 AND id <> ALL($3::text[]) ORDER BY id LIMIT $2",
    remove: "DELETE FROM sandbox_messages WHERE id = ANY(ARRAY(SELECT unnest($1::text[])))",
    nameOf: (id) => `sandbox message ${id}`,
  });
  return (before, limit) => prune(firstUuidAt(before), before, limit);
}

function createPruneUsage(db: Database): PruneOld {
  const prune = createOldRowDeletion(db, {
    select: `SELECT ctid::text AS id FROM sms_usage WHERE hour < $1 AND ctid <> ALL($3::text[]::tid[])
      LIMIT $2 FOR UPDATE SKIP LOCKED`,
    remove: "DELETE FROM sms_usage WHERE ctid = ANY(ARRAY(SELECT unnest($1::text[])::tid))",
    nameOf: (place) => `count of messages at ${place}`,
  });
  return (before, limit) => prune(Math.floor(before / HOUR_MS), before, limit);
}

/** Deletes those of the `limit` parked receipts with the lowest ids that are older than `before`. Ids rise with time, more or less. */
function createPruneParked(db: Database): PruneOld {
  const prune = createOldRowDeletion(db, {
    select: `SELECT id::text AS id FROM (
        SELECT id, at FROM parked_receipts WHERE id <> ALL($3::text[]::bigint[]) ORDER BY id LIMIT $2
      ) AS oldest WHERE at < $1`,
    // By a list of ids, since a join might read the whole table.
    remove: "DELETE FROM parked_receipts WHERE id = ANY(ARRAY(SELECT unnest($1::text[])::bigint))",
    nameOf: (id) => `parked receipt ${id}`,
  });
  return (before, limit) => prune(before, before, limit);
}
