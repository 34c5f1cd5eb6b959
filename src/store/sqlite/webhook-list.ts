import type { EventKey, WebhookSelection } from "../../core/webhook-outbox.ts";
import type { Outbox, WebhookPage } from "../store.ts";
import type { AccountBook } from "./account-book.ts";
import type { Database } from "./database.ts";
import {
  type AttemptRow,
  toAttempt,
  toLane,
  toRecord,
  WEBHOOK_COLUMNS,
  type WebhookRow,
} from "./webhook-rows.ts";

/** `list`, `ofMessage`, `attempts` and `backlog` of `Outbox`. */
export function createWebhookList(
  db: Database,
  accounts: AccountBook,
): Pick<Outbox, "list" | "ofMessage" | "attempts" | "backlog"> {
  const walk = createWalk(db, accounts);
  const ofMessage = db.prepare<WebhookRow>(
    `SELECT ${WEBHOOK_COLUMNS} FROM webhooks WHERE message_id = ? ORDER BY sequence`,
  );
  const attempts = createAttemptLookup(db);
  return {
    list: (selection, page) =>
      db.read(() => {
        const { rows, next } = walk(selection, page);
        const events = rows.map((row) => toRecord(accounts, row));
        return { events, ...(next !== undefined && { next }) };
      }),
    ofMessage: (messageId) => db.read(() => ofMessage.all(messageId).map((row) => toRecord(accounts, row))),
    attempts: (event) => db.read(() => attempts(event)),
    backlog: createCounts(db),
  };
}

export interface Walked {
  readonly rows: readonly WebhookRow[];
  readonly next?: string;
}

/** Rows passed over in one call, as a multiple of its limit: those of other hosts and states. */
const LOOKS_PER_LIMIT = 10;
const LEAST_LOOKS = 1_000;

/** Goes along an account's events in order of time, and gives those selected. */
export function createWalk(
  db: Database,
  accounts: AccountBook,
): (selection: WebhookSelection, page: WebhookPage) => Walked {
  const all = db.prepare<WebhookRow>(walkSql(""));
  const failed = db.prepare<WebhookRow>(walkSql("state = 'failed' AND"));
  return (selection, page) => {
    const account = accounts.byId(selection.accountId)?.number ?? -1;
    const { since = 0, until = Number.MAX_SAFE_INTEGER } = selection;
    const from = readCursor(page.after) ?? { at: since, id: 0 };
    const looks = Math.max(LEAST_LOOKS, page.limit * LOOKS_PER_LIMIT);
    const looked = (selection.state === "failed" ? failed : all).all(account, from.at, until, from.id, looks);
    const lane = selection.host === undefined ? undefined : toLane(account, selection.host);
    const found = looked.filter(
      (row) =>
        (lane === undefined || row.lane === lane) &&
        (selection.state === undefined || row.state === selection.state),
    );
    const rows = found.slice(0, page.limit);
    const isCut = found.length > page.limit || looked.length === looks;
    const last = found.length > page.limit ? rows.at(-1) : looked.at(-1);
    return { rows, ...(isCut && last && { next: `${last.at}-${last.id}` }) };
  };
}

function walkSql(condition: string): string {
  return `SELECT ${WEBHOOK_COLUMNS} FROM webhooks
    WHERE ${condition} account = ?1 AND at >= ?2 AND at < ?3 AND (at > ?2 OR id > ?4) ORDER BY at, id LIMIT ?5`;
}

function readCursor(text: string | undefined): { at: number; id: number } | undefined {
  const [, at, id] = /^(\d{1,15})-(\d{1,15})$/.exec(text ?? "") ?? [];
  return at === undefined ? undefined : { at: Number(at), id: Number(id) };
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

const MAX_COUNTED = 100_000;

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
