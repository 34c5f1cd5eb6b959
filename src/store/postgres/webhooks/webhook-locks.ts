import type { Lane } from "../../../core/webhooks/webhook-outbox.ts";
import { splitLane, WEBHOOK_COLUMNS, type WebhookRow } from "../../webhooks/webhook-rows.ts";
import type { Session } from "../database/driver.ts";

export interface LockedWebhook extends WebhookRow {
  readonly claim: number;
  readonly account_id: string | null;
}

/**
 * Webhooks by id, alone with this transaction until it ends, together with those after them (`1`) or before them (`-1`)
 * of the same messages. All that lock several do so in this order, and wait for nobody who waits for them.
 */
export async function lockWebhooks(
  session: Session,
  ids: readonly number[],
  neighbor: 1 | -1,
): Promise<ReadonlyMap<number, LockedWebhook>> {
  const rows = await session.query<LockedWebhook>(LOCK, [ids, neighbor]);
  return new Map(rows.map((row) => [row.id, row]));
}

const COLUMNS = WEBHOOK_COLUMNS.replaceAll(/\w+/g, "w.$&");

const LOCK = `SELECT ${COLUMNS}, w.claim, (SELECT a.id FROM accounts a WHERE a.number = w.account) AS account_id
  FROM webhooks w WHERE w.id = ANY(ARRAY(
    SELECT t.id FROM unnest($1::bigint[]) AS t (id)
    UNION
    SELECT n.id FROM unnest($1::bigint[]) AS t (id) JOIN webhooks o ON o.id = t.id
      JOIN webhooks n ON n.message_id = o.message_id AND n.sequence = o.sequence + $2))
  ORDER BY w.message_id, w.sequence FOR NO KEY UPDATE OF w`;

/** A lane as statements give it. */
export interface LaneRow {
  readonly account_id: string | null;
  readonly lane: string;
}

export function toLaneOf({ account_id, lane }: LaneRow): Lane {
  return { accountId: account_id ?? "", host: splitLane(lane)[1] };
}

/** Each once. */
export function lanesOf(rows: readonly LaneRow[]): readonly Lane[] {
  return [...new Map(rows.map((row) => [row.lane, toLaneOf(row)])).values()];
}

/**
 * What is out of the way of the events after it, by message and sequence: those are in line now. In a statement after
 * the one that moved it out of the way, see `addWebhooks`.
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

const LET_NEXT_GO = `UPDATE webhooks w SET state = 'ready'
  FROM unnest($1::uuid[], $2::int[]) AS t (message_id, sequence), accounts a
  WHERE w.message_id = ANY(ARRAY[t.message_id]) AND w.sequence = t.sequence + 1 AND w.state = 'held' AND a.number = w.account
  RETURNING a.id AS account_id, w.lane`;
