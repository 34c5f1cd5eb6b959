import { setImmediate } from "node:timers/promises";
import type { ListOrder } from "../../../core/lists/list-order.ts";
import { present } from "../../../core/present.ts";
import type { EventKey, WebhookRecord, WebhookSelection } from "../../../core/webhooks/webhook-outbox.ts";
import { MAX_COUNTED } from "../../max-counted.ts";
import type { OrderedWebhookPage, Outbox } from "../../store.ts";
import {
  type AttemptRow,
  boundsOf,
  looksOf,
  RESULT_COLUMNS,
  type ResultRow,
  selectPage,
  toAttempt,
  toRecord,
  WEBHOOK_COLUMNS,
  type WebhookRow,
  type WebhookWalk,
} from "../../webhooks/webhook-rows.ts";
import type { Database } from "../database/database.ts";
import type { AccountCache } from "../records/account-cache.ts";
import { fromLane } from "./from-lane.ts";

/** `list`, `ofMessage`, `attempts` and `backlog` of `Outbox`. */
export function createWebhookList(
  db: Database,
  accounts: AccountCache,
): Pick<Outbox, "list" | "ofMessage" | "attempts" | "backlog"> {
  const walk = createWalk(db, accounts);
  const ofMessage = db.prepare<WebhookRow>(
    `SELECT ${WEBHOOK_COLUMNS} FROM webhooks WHERE message_id = ? ORDER BY sequence`,
  );
  const attempts = createAttemptLookup(db);
  const lastAttempt = createLastAttempt(db);
  const record = (row: WebhookRow) => toRecord(row, fromLane(accounts, row.lane), lastAttempt(row));
  return {
    async list(selection, page) {
      const { rows, next } = await walk(selection, page);
      const events: WebhookRecord[] = [];
      for (let from = 0; from < rows.length; from += PIECE) {
        if (from > 0) await setImmediate();
        events.push(...(await db.read(() => rows.slice(from, from + PIECE).map(record))));
      }
      return { events, ...present({ next }) };
    },
    ofMessage: (messageId) => db.read(() => ofMessage.all(messageId).map(record)),
    attempts: (event) => db.read(() => attempts(event)),
    backlog: createCounts(db),
  };
}

/** How many rows are looked at in one go, with other work in between: each may have to come from the disk. */
const PIECE = 250;

/** Walks an account's events in order of time, and returns a page of those selected. */
export function createWalk(
  db: Database,
  accounts: AccountCache,
): (selection: WebhookSelection, page: OrderedWebhookPage) => Promise<WebhookWalk> {
  const walkPiece = createPieceWalk(db, accounts);
  return async (selection, { limit, after, order }) => {
    const rows: WebhookRow[] = [];
    let next = after;
    for (let left = looksOf(selection, limit); ; left -= PIECE) {
      const page = { limit: limit - rows.length, ...present({ after: next, order }) };
      const looks = Math.min(left, PIECE);
      const found = await db.read(() => walkPiece(selection, page, looks));
      rows.push(...found.rows);
      next = found.next;
      if (next === undefined || rows.length === limit || left <= PIECE) return { rows, ...present({ next }) };
      await setImmediate();
    }
  };
}

function createPieceWalk(
  db: Database,
  accounts: AccountCache,
): (selection: WebhookSelection, page: OrderedWebhookPage, looks: number) => WebhookWalk {
  const prepared = (order: ListOrder) => ({
    all: db.prepare<WebhookRow>(walkSql("", order)),
    failed: db.prepare<WebhookRow>(walkSql("state = 'failed' AND", order)),
  });
  const statements = { oldest: prepared("oldest"), newest: prepared("newest") };
  return (selection, page, looks) => {
    const account = accounts.byId(selection.accountId)?.number ?? -1;
    const { from, end } = boundsOf(selection, page);
    const { all, failed } = statements[page.order ?? "oldest"];
    const walk = selection.state === "failed" ? failed : all;
    const looked = walk.all(account, from.at, from.id, end, looks);
    return selectPage(looked, selection, { limit: page.limit, looks });
  };
}

function walkSql(condition: string, order: ListOrder): string {
  return `SELECT ${WEBHOOK_COLUMNS} FROM webhooks WHERE ${condition} account = ?1 AND ${BETWEEN[order]} LIMIT ?5`;
}

const BETWEEN = {
  oldest: "at >= ?2 AND at < ?4 AND (at > ?2 OR id > ?3) ORDER BY at, id",
  newest: "at <= ?2 AND at >= ?4 AND (at < ?2 OR id < ?3) ORDER BY at DESC, id DESC",
} as const satisfies Record<ListOrder, string>;

/**
 * Finds the last attempt at an event that is shown; a walk passes over many more. Attempts are numbered from 1, so the last one's
 * number is how often the event was tried.
 */
function createLastAttempt(db: Database): (row: WebhookRow) => ResultRow | undefined {
  const find = db.prepare<ResultRow>(
    `SELECT ${RESULT_COLUMNS} FROM webhook_attempts WHERE webhook = ? AND number = ?`,
  );
  return ({ id, attempts }) => (attempts === 0 ? undefined : find.get(id, attempts));
}

function createAttemptLookup(db: Database) {
  const find = db.prepare<{ id: number }>("SELECT id FROM webhooks WHERE message_id = ? AND sequence = ?");
  const read = db.prepare<AttemptRow>(
    `SELECT at, ms, status, head, error_code, error FROM webhook_attempts WHERE webhook = ? ORDER BY number`,
  );
  return ({ messageId, sequence }: EventKey) => {
    const row = find.get(messageId, sequence);
    return row && read.all(row.id).map(toAttempt);
  };
}

function createCounts(db: Database): Outbox["backlog"] {
  const ready = db.prepare<{ count: number }>(
    `SELECT count(*) AS count FROM
       (SELECT 1 FROM webhooks WHERE state = 'ready' AND lane > '' LIMIT ${MAX_COUNTED})`,
  );
  const waiting = db.prepare<{ count: number }>(
    `SELECT count(*) AS count FROM
       (SELECT 1 FROM webhooks WHERE state = 'waiting' AND due_at IS NOT NULL LIMIT ${MAX_COUNTED})`,
  );
  return () => db.read(() => ({ ready: ready.get()?.count ?? 0, waiting: waiting.get()?.count ?? 0 }));
}
