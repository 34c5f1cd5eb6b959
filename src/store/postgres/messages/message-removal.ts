import type { Session } from "../database/driver.ts";

export interface RemovedMessage {
  readonly id: string;
  /** The id of its content. */
  readonly content: string;
}

/** Deletes messages and everything that belongs to them, inside a transaction; a batch's content goes with its last message. */
export async function removeMessages(session: Session, rows: readonly RemovedMessage[]): Promise<void> {
  if (rows.length === 0) return;
  const ids = rows.map(({ id }) => id);
  // Jobs before messages, the order in which everybody locks them.
  await session.query(removeSql("jobs", "message_id"), [ids]);
  const sql = `${removeSql("webhooks", "message_id")} RETURNING r.id`;
  await removeAttempts(session, await session.query<{ id: number }>(sql, [ids]));
  await session.query(REMOVE, [ids]);
  await session.query(REMOVE_CONTENTS, [[...new Set(rows.map(({ content }) => content))]]);
}

/** A join rather than a list of ids, so that for each id only the tables of its day are searched. */
function removeSql(table: string, key: string): string {
  return `DELETE FROM ${table} r USING unnest($1::uuid[]) AS t (id) WHERE r.${key} = t.id`;
}

function together(statements: readonly string[]): string {
  return `WITH ${statements.map((sql, index) => `gone${index} AS (${sql})`).join(", ")} SELECT 1`;
}

const OWN = [
  ["provider_ids", "message_id"],
  ["unconfirmed_parts", "message_id"],
  ["overdue_receipts", "message_id"],
] as const;

const BY_DAY = [
  ["messages", "id"],
  ["timeline", "message_id"],
  ["events", "subject_id"],
] as const;

/** New events are few, and have no index but that of their order. */
const REMOVE = together([
  "DELETE FROM new_events WHERE subject_id = ANY($1)",
  ...[...BY_DAY, ...OWN].map(([table, key]) => removeSql(table, key)),
]);

const REMOVE_CONTENTS = `DELETE FROM contents c USING unnest($1::uuid[]) AS t (id)
  WHERE c.id = t.id AND NOT EXISTS (SELECT 1 FROM messages m
    WHERE m.id >= c.id AND m.id <= c.last_message_id AND m.content = c.id)`;

/**
 * Deletes what belongs to messages and is not partitioned by day, for all ids after `after` up to `last`, except `except`.
 * What belongs to inbound messages of that time goes with it.
 */
export async function removeLeftovers(
  session: Session,
  range: { readonly after: string; readonly last: string; readonly except: readonly string[] },
): Promise<void> {
  const values = [range.after, range.last, range.except];
  const webhooks = await session.query<{ id: number }>(
    `DELETE FROM webhooks WHERE ${inRange("message_id")} RETURNING id`,
    values,
  );
  await removeAttempts(session, webhooks);
  await session.query(LEFTOVERS, values);
}

const inRange = (key: string) => `${key} > $1 AND ${key} <= $2 AND ${key} <> ALL($3::uuid[])`;

const LEFTOVERS = together(
  [["jobs", "message_id"] as const, ["new_events", "subject_id"] as const, ...OWN].map(
    ([table, key]) => `DELETE FROM ${table} WHERE ${inRange(key)}`,
  ),
);

async function removeAttempts(session: Session, webhooks: readonly { readonly id: number }[]): Promise<void> {
  if (webhooks.length === 0) return;
  await session.query(
    "DELETE FROM webhook_attempts a USING unnest($1::bigint[]) AS t (id) WHERE a.webhook = t.id",
    [webhooks.map(({ id }) => id)],
  );
}
