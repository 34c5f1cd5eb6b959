import type { ListOrder } from "../../../core/lists/list-order.ts";
import { isUuid } from "../../../core/uuid.ts";
import type { EventKey, WebhookSelection } from "../../../core/webhooks/webhook-outbox.ts";
import { MAX_COUNTED } from "../../max-counted.ts";
import type { OrderedWebhookPage, Outbox } from "../../store.ts";
import {
  type AttemptRow,
  boundsOf,
  looksOf,
  RESULT_COLUMNS,
  type ResultRow,
  splitLane,
  toAttempt,
  toPage,
  toRecord,
  WEBHOOK_COLUMNS,
  type WebhookRow,
  type WebhookWalk,
} from "../../webhooks/webhook-rows.ts";
import type { Session } from "../database/driver.ts";
import { type LaneRow, toLaneOf } from "./webhook-locks.ts";

/** `list`, `ofMessage`, `attempts` and `backlog` of `Outbox`. */
export function createWebhookList(
  session: Session,
): Pick<Outbox, "list" | "ofMessage" | "attempts" | "backlog"> {
  return {
    async list(selection, page) {
      const { accountId } = selection;
      const { rows, next } = await walk(session, selection, page);
      const last = await findLastAttempts(session, rows);
      const events = rows.map((row) =>
        toRecord(row, { accountId, host: splitLane(row.lane)[1] }, last.get(row.id)),
      );
      return { events, ...(next !== undefined && { next }) };
    },
    async ofMessage(messageId) {
      if (!isUuid(messageId)) return [];
      const rows = await session.query<WebhookRow & LaneRow>(OF_MESSAGE, [messageId]);
      const last = await findLastAttempts(session, rows);
      return rows.map((row) => toRecord(row, toLaneOf(row), last.get(row.id)));
    },
    attempts: (event) => findAttempts(session, event),
    async backlog() {
      const [row] = await session.query<{ ready: number; waiting: number }>(COUNT);
      return { ready: row?.ready ?? 0, waiting: row?.waiting ?? 0 };
    },
  };
}

/** Walks an account's events in order of time, and returns a page of those selected. */
export async function walk(
  session: Session,
  selection: WebhookSelection,
  page: OrderedWebhookPage,
): Promise<WebhookWalk> {
  const { accountId, host = null, state = null } = selection;
  const { limit } = page;
  const { from, end } = boundsOf(selection, page);
  const looks = looksOf(selection, limit);
  const { all, failed } = WALKS[page.order ?? "oldest"];
  const sql = state === "failed" ? failed : all;
  const values = [accountId, from.at, from.id, end, looks, host, state, limit + 1];
  const rows = await session.query<WebhookRow & { readonly isEnd: boolean }>(sql, values);
  return toPage(
    rows.filter(({ isEnd }) => !isEnd),
    { limit, end: rows.find(({ isEnd }) => isEnd) },
  );
}

const BY_TIME = { oldest: "at, id", newest: "at DESC, id DESC" } as const satisfies Record<ListOrder, string>;

const BETWEEN = {
  oldest: "(at, webhooks.id) > ($2, $3) AND at < $4",
  newest: "(at, webhooks.id) < ($2, $3) AND at >= $4",
} as const satisfies Record<ListOrder, string>;

/**
 * Leaves webhooks of other hosts and states on the server. The last one looked at says where to go on, if there may be more
 * behind it.
 */
const walkSql = (condition: string, order: ListOrder) => `WITH looked AS MATERIALIZED (
    SELECT ${WEBHOOK_COLUMNS} FROM webhooks
    WHERE ${condition} account = (SELECT number FROM accounts WHERE accounts.id = $1) AND ${BETWEEN[order]}
    ORDER BY ${BY_TIME[order]} LIMIT $5
  )
  (SELECT *, false AS "isEnd" FROM looked
    WHERE ($6::text IS NULL OR split_part(lane, ' ', 2) = $6) AND ($7::text IS NULL OR state = $7)
    ORDER BY ${BY_TIME[order]} LIMIT $8)
  UNION ALL
  (SELECT *, true FROM looked ORDER BY ${BY_TIME[order]} OFFSET $5 - 1)`;

const walksOf = (order: ListOrder) => ({
  all: walkSql("", order),
  failed: walkSql("state = 'failed' AND", order),
});

const WALKS = { oldest: walksOf("oldest"), newest: walksOf("newest") };

const OF_MESSAGE = `SELECT ${WEBHOOK_COLUMNS}, (SELECT a.id FROM accounts a WHERE a.number = account) AS account_id
  FROM webhooks WHERE message_id = $1 ORDER BY sequence`;

/** The last attempt of each webhook, by the webhook's id. */
async function findLastAttempts(
  session: Session,
  rows: readonly WebhookRow[],
): Promise<ReadonlyMap<number, ResultRow>> {
  const tried = rows.filter(({ attempts }) => attempts > 0);
  if (tried.length === 0) return new Map();
  const ids = tried.map(({ id }) => id);
  const found = await session.query<ResultRow & { readonly webhook: number }>(LAST_ATTEMPTS, [
    ids,
    tried.map(({ attempts }) => attempts),
  ]);
  return new Map(found.map((row) => [row.webhook, row]));
}

/** Attempts are numbered from 1, so the last one's number is how often the webhook was tried. `OFFSET 0`: see `lockWebhooks`. */
const LAST_ATTEMPTS = `SELECT a.* FROM unnest($1::bigint[], $2::int[]) AS t (id, number),
  LATERAL (SELECT webhook, ${RESULT_COLUMNS} FROM webhook_attempts
    WHERE webhook = t.id AND number = t.number OFFSET 0) AS a`;

async function findAttempts(session: Session, { messageId, sequence }: EventKey) {
  if (!isUuid(messageId)) return undefined;
  const rows = await session.query<AttemptRow | { at: null }>(ATTEMPTS, [messageId, sequence]);
  if (rows.length === 0) return undefined;
  return rows.flatMap((row) => (row.at === null ? [] : [toAttempt(row)]));
}

/** No rows if there is no such event; one row of NULLs if it has no attempt yet. `OFFSET 0`: see `lockWebhooks`. */
const ATTEMPTS = `SELECT a.at, a.ms, a.status, a.head, a.error_code, a.error
  FROM (SELECT id FROM webhooks WHERE message_id = $1 AND sequence = $2 OFFSET 0) AS w
  LEFT JOIN LATERAL (SELECT * FROM webhook_attempts WHERE webhook = w.id OFFSET 0) AS a ON true ORDER BY a.number`;

const counted = (condition: string) =>
  `(SELECT count(*) FROM (SELECT 1 FROM webhooks WHERE ${condition} LIMIT ${MAX_COUNTED}) AS found)`;

const COUNT = `SELECT ${counted("state = 'ready'")} AS ready,
  ${counted("state = 'waiting' AND due_at IS NOT NULL")} AS waiting`;
