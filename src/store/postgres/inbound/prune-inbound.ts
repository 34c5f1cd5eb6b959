import { firstUuidAt } from "../../../core/uuid.ts";
import type { Session } from "../database/driver.ts";

/** Deletes at most `limit` messages from handsets that came before `before`, with their events and webhooks; how many. */
export async function pruneInbound(session: Session, before: number, limit: number): Promise<number> {
  const [row] = await session.query<{ count: number }>(PRUNE, [firstUuidAt(before), limit]);
  return row?.count ?? 0;
}

/**
 * SQL that deletes the inbound messages whose ids a query selects, with their events and webhooks; returns their `count`. What
 * may be found by reading all of a table is found by an array: a join would read it again for each message.
 */
export function removeInbound(ids: string): string {
  return `WITH old AS (
    DELETE FROM inbound_messages WHERE id IN (${ids}) RETURNING id
  ), new_told AS (
    DELETE FROM new_events WHERE subject_id = ANY(ARRAY(SELECT id FROM old))
  ), told AS (
    DELETE FROM events e USING old WHERE e.subject_id = old.id
  ), hooks AS (
    DELETE FROM webhooks w USING old WHERE w.message_id = old.id RETURNING w.id
  ), attempts AS (
    DELETE FROM webhook_attempts WHERE webhook = ANY(ARRAY(SELECT id FROM hooks))
  )
  SELECT count(*) AS count FROM old`;
}

const PRUNE = removeInbound(
  "SELECT id FROM inbound_messages WHERE id < $1 ORDER BY id LIMIT $2 FOR UPDATE SKIP LOCKED",
);
