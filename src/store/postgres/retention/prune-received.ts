import { HOUR_MS } from "../../../core/time/durations.ts";
import { firstUuidAt } from "../../../core/uuid.ts";
import type { Retention } from "../../store.ts";
import type { Session } from "../database/driver.ts";
import type { Database } from "../database/transactions.ts";

/** Deletes at most `limit` rows from before `before`; returns how many. */
export type PruneOld = (session: Session, before: number, limit: number) => Promise<number>;

/** `Retention.pruneReceived`: each kind in a transaction of its own. */
export function createPruneReceived(db: Database, others: readonly PruneOld[]): Retention["pruneReceived"] {
  return async (before, limit) => {
    let rows = 0;
    for (const prune of [pruneSandbox, pruneUsage, ...others])
      rows += await db.transaction((session) => prune(session, before, limit));
    return rows;
  };
}

const pruneSandbox: PruneOld = async (session, before, limit) => {
  const sql = `DELETE FROM sandbox_messages WHERE id = ANY(ARRAY(
    SELECT id FROM sandbox_messages WHERE id < $1 ORDER BY id LIMIT $2)) RETURNING 1`;
  return (await session.query(sql, [firstUuidAt(before), limit])).length;
};

const pruneUsage: PruneOld = async (session, before, limit) => {
  const sql = `DELETE FROM sms_usage WHERE ctid = ANY(ARRAY(
    SELECT ctid FROM sms_usage WHERE hour < $1 LIMIT $2 FOR UPDATE SKIP LOCKED)) RETURNING 1`;
  return (await session.query(sql, [Math.floor(before / HOUR_MS), limit])).length;
};
