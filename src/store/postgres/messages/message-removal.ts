import type { Session } from "../database/driver.ts";
import { NIL_UUID } from "../database/nil-uuid.ts";

export interface RemovedMessage {
  readonly id: string;
  /** The id of its content. */
  readonly content: string;
}

/**
 * Deletes messages and everything that belongs to them, inside a transaction; a batch's content goes with its last message.
 * Jobs go before messages, since all transactions lock them in this order. The rest goes after messages: others write it only while
 * they have locked the message, so a later statement sees all of it.
 */
export async function removeMessages(session: Session, rows: readonly RemovedMessage[]): Promise<void> {
  if (rows.length === 0) return;
  const ids = rows.map(({ id }) => id);
  const contents = [...new Set(rows.map(({ content }) => content))];
  const between = [ids, ...boundsOf(ids)];
  await session.query(removeSql("jobs", "message_id"), [ids]);
  await session.query(byTime(["messages", "id"]), between);
  await removeAttempts(session, await session.query<{ id: number }>(REMOVE_WAITING, between));
  await session.query(REMOVE, between);
  await session.query(LOCK_CONTENTS, [contents]);
  await session.query(REMOVE_CONTENTS, [contents, ...boundsOf(contents)]);
}

/** A list leaves the planner no choice: if it has no statistics of the table, it might join all rows with all ids. */
function removeSql(table: string, key: string): string {
  return `DELETE FROM ${table} WHERE ${key} = ANY($1)`;
}

/** Limits the search to the tables of the days between the first id and the last. */
const BETWEEN = "BETWEEN $2::uuid AND $3::uuid";

function boundsOf(ids: readonly string[]): readonly string[] {
  const sorted = ids.toSorted();
  return [sorted[0] ?? NIL_UUID, sorted.at(-1) ?? NIL_UUID];
}

function together(statements: readonly string[]): string {
  return `WITH ${statements.map((sql, index) => `gone${index} AS (${sql})`).join(", ")} SELECT 1`;
}

const OWN = [
  ["provider_ids", "message_id"],
  ["unconfirmed_parts", "message_id"],
  ["overdue_receipts", "message_id"],
] as const;

const BY_TIME = [
  ["timeline", "message_id"],
  ["events", "subject_id"],
] as const;

function byTime([table, key]: readonly [string, string]): string {
  return `${removeSql(table, key)} AND ${key} ${BETWEEN}`;
}

/**
 * Removes new events, and webhooks. New events have only an index by their order; most are of later messages, which the bounds rule
 * out. They go before the events that have a number, in a statement of its own: if an event is being numbered at this moment, the
 * later statement finds it.
 */
const REMOVE_WAITING = `WITH gone AS (${byTime(["new_events", "subject_id"])})
  ${removeSql("webhooks", "message_id")} RETURNING id`;

const REMOVE = together([...BY_TIME.map(byTime), ...OWN.map(([table, key]) => removeSql(table, key))]);

/**
 * Locks the contents of batches: if two transactions remove the last messages of one, each would still see the other's, and leave the
 * content behind. Locked one by one, like messages (`message-log.ts`), and after them.
 */
const LOCK_CONTENTS = `SELECT 1 FROM (SELECT id FROM unnest($1::uuid[]) AS ids (id) ORDER BY id) AS t,
  LATERAL (SELECT 1 FROM contents WHERE id = t.id AND messages > 1 FOR UPDATE) AS locked`;

/** `OFFSET 0` keeps the subquery from becoming a join, for the same reason as in `removeSql`. */
const REMOVE_CONTENTS = `${removeSql("contents c", "c.id")} AND c.id ${BETWEEN} AND NOT EXISTS (
  SELECT 1 FROM messages m WHERE m.id >= c.id AND m.id <= c.last_message_id AND m.content = c.id OFFSET 0)`;

/**
 * Deletes what belongs to messages and is not partitioned by day, for all ids after `after` up to `last`, except `except`.
 * What belongs to inbound messages of that time goes with those.
 */
export async function removeLeftovers(
  session: Session,
  range: { readonly after: string; readonly last: string; readonly except: readonly string[] },
): Promise<void> {
  const values = [range.after, range.last, range.except];
  const webhooks = await session.query<{ id: number }>(
    `DELETE FROM webhooks WHERE ${inRange("message_id")} AND ${ofNoInbound("message_id")} RETURNING id`,
    values,
  );
  await removeAttempts(session, webhooks);
  await session.query(LEFTOVERS, values);
}

const inRange = (key: string) => `${key} > $1 AND ${key} <= $2 AND ${key} <> ALL($3::uuid[])`;

/** `OFFSET 0` keeps the subquery from becoming a join, which might read a whole table. */
const ofNoInbound = (key: string) =>
  `NOT EXISTS (SELECT 1 FROM inbound_messages i WHERE i.id = ${key} OFFSET 0)`;

const LEFTOVERS = together([
  `DELETE FROM new_events WHERE ${inRange("subject_id")} AND ${ofNoInbound("subject_id")}`,
  ...[["jobs", "message_id"] as const, ...OWN].map(
    ([table, key]) => `DELETE FROM ${table} WHERE ${inRange(key)}`,
  ),
]);

/** Deletes the attempts at webhooks that this transaction has deleted. */
export async function removeAttempts(
  session: Session,
  webhooks: readonly { readonly id: number }[],
): Promise<void> {
  if (webhooks.length === 0) return;
  await session.query(removeSql("webhook_attempts", "webhook"), [webhooks.map(({ id }) => id)]);
}
