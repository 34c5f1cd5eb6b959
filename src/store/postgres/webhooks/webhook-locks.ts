import type { Lane } from "../../../core/webhooks/webhook-outbox.ts";
import { splitLane, WEBHOOK_COLUMNS, type WebhookRow } from "../../webhooks/webhook-rows.ts";
import type { Session } from "../database/driver.ts";

export interface LockedWebhook extends WebhookRow {
  readonly claim: number;
  readonly account_id: string | null;
}

/**
 * Locks webhooks for this transaction, together with the next (`1`), or the previous (`-1`) and the next, of the same message,
 * and returns them by id. All transactions lock them in this order, so that they cannot deadlock.
 */
export async function lockWebhooks(
  session: Session,
  ids: readonly number[],
  neighbors: readonly (1 | -1)[],
): Promise<ReadonlyMap<number, LockedWebhook>> {
  const rows = await session.query<LockedWebhook>(LOCK, [ids, neighbors]);
  return new Map(rows.map((row) => [row.id, row]));
}

/** The id of the account of a webhook `w`. Not by a join, which the planner might begin with the accounts, and all their webhooks. */
export const ACCOUNT_ID = "(SELECT a.id FROM accounts a WHERE a.number = w.account)";

const COLUMNS = WEBHOOK_COLUMNS.replaceAll(/\w+/g, "w.$&");

/**
 * If no webhook was left when statistics were taken, the planner finds every order of a join equally good. With `OFFSET 0` there is
 * only one: by the ids, and from each to its neighbors. To get the rows in order it might also walk an index over all webhooks. As a
 * text, a message's id has the same order, but no index.
 */
const LOCK = `SELECT ${COLUMNS}, w.claim, ${ACCOUNT_ID} AS account_id
  FROM webhooks w WHERE w.id = ANY(ARRAY(
    SELECT t.id FROM unnest($1::bigint[]) AS t (id)
    UNION
    SELECT n.id FROM unnest($1::bigint[]) AS t (id), unnest($2::int[]) AS s (step),
      LATERAL (SELECT o.message_id, o.sequence FROM webhooks o WHERE o.id = t.id OFFSET 0) AS o,
      LATERAL (SELECT n.id FROM webhooks n WHERE n.message_id = o.message_id AND n.sequence = o.sequence + s.step OFFSET 0) AS n))
  ORDER BY w.message_id::text COLLATE "C", w.sequence FOR NO KEY UPDATE OF w`;

/** A lane as statements return it. */
export interface LaneRow {
  readonly account_id: string | null;
  readonly lane: string;
}

export function toLaneOf({ account_id, lane }: LaneRow): Lane {
  return { accountId: account_id ?? "", host: splitLane(lane)[1] };
}

/** The lanes of the rows, each once. */
export function lanesOf(rows: readonly LaneRow[]): readonly Lane[] {
  return [...new Map(rows.map((row) => [row.lane, toLaneOf(row)])).values()];
}

/**
 * Makes ready the events that `events` held back, and returns their lanes. Has to run after the statement that finished
 * `events`; see `addWebhooks`.
 */
export function letNextGo(
  session: Session,
  events: readonly { readonly messageId: string; readonly sequence: number }[],
): Promise<readonly LaneRow[]> {
  if (events.length === 0) return Promise.resolve([]);
  return session.query<LaneRow>(LET_NEXT_GO, [
    events.map(({ messageId }) => messageId),
    events.map(({ sequence }) => sequence),
  ]);
}

/** By a list of ids, as in `lockWebhooks`. */
const LET_NEXT_GO = `UPDATE webhooks w SET state = 'ready'
  WHERE w.id = ANY(ARRAY(
    SELECT n.id FROM unnest($1::uuid[], $2::int[]) AS t (message_id, sequence),
      LATERAL (SELECT n.id FROM webhooks n WHERE n.message_id = t.message_id AND n.sequence = t.sequence + 1 OFFSET 0) AS n))
    AND w.state = 'held'
  RETURNING ${ACCOUNT_ID} AS account_id, w.lane`;
