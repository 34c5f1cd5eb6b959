import { firstUuidAt } from "../../../core/uuid.ts";
import type { Session, SqlValue } from "../database/driver.ts";
import { removeAttempts } from "../messages/message-removal.ts";

/** Deletes at most `limit` messages from handsets that came before `before`, with their events and webhooks. Returns how many. */
export function pruneInbound(session: Session, before: number, limit: number): Promise<number> {
  return removeInbound(session, OLD, [firstUuidAt(before), limit]);
}

const OLD = "SELECT id FROM inbound_messages WHERE id < $1 ORDER BY id LIMIT $2 FOR UPDATE SKIP LOCKED";

/**
 * Deletes the inbound messages whose ids a query selects, with their events and webhooks, inside a transaction. Returns how
 * many. In statements of their own, since each sees what others did while the one before waited for a lock: events that were
 * being numbered, and attempts that were being stored.
 */
export async function removeInbound(
  session: Session,
  ids: string,
  values: readonly SqlValue[],
): Promise<number> {
  const rows = await session.query<{ id: string }>(removeSql(ids), values);
  if (rows.length === 0) return 0;
  await removeAttempts(session, await session.query<{ id: number }>(REMOVE_MORE, [rows.map(({ id }) => id)]));
  return rows.length;
}

/**
 * By arrays, as a join might read a whole table again for each message. For the messages, it might even run the query again for
 * each row, and delete more than were asked for.
 */
function removeSql(ids: string): string {
  return `WITH old AS (
    DELETE FROM inbound_messages WHERE id = ANY(ARRAY(${ids})) RETURNING id
  ), new_told AS (
    DELETE FROM new_events WHERE subject_id = ANY(ARRAY(SELECT id FROM old))
  )
  SELECT id FROM old`;
}

const REMOVE_MORE = `WITH told AS (
    DELETE FROM events e USING unnest($1::uuid[]) AS old (id) WHERE e.subject_id = old.id
  )
  DELETE FROM webhooks WHERE message_id = ANY($1) RETURNING id`;
