/** Rows of the outbox, and the way between them and the nouns of `core`. */
import type { Lane, WebhookAttempt, WebhookRecord, WebhookState } from "../../core/webhook-outbox.ts";
import type { AccountBook } from "./account-book.ts";

export const WEBHOOK_COLUMNS =
  "id, message_id, sequence, lane, event_type, state, at, due_at, failures, attempts";

export interface WebhookRow {
  readonly id: number;
  readonly message_id: string;
  readonly sequence: number;
  readonly lane: string;
  readonly event_type: string;
  readonly state: WebhookState;
  readonly at: number;
  readonly due_at: number | null;
  readonly failures: number;
  readonly attempts: number;
}

export interface AttemptRow {
  readonly at: number;
  readonly ms: number;
  readonly status: number | null;
  readonly head: string | null;
  readonly error_code: string | null;
  readonly error: string | null;
}

/** One column, so that an index steps from lane to lane. */
export function toLane(account: number, host: string): string {
  return `${account} ${host}`;
}

/** The lane by the account's id. Accounts with messages stay; of one that is gone, its id is "". */
export function fromLane(accounts: Pick<AccountBook, "byNumber">, lane: string): Lane {
  const space = lane.indexOf(" ");
  const account = accounts.byNumber(Number(lane.slice(0, space)))?.account;
  return { accountId: account?.id ?? "", host: lane.slice(space + 1) };
}

export function toRecord(accounts: Pick<AccountBook, "byNumber">, row: WebhookRow): WebhookRecord {
  return {
    messageId: row.message_id,
    sequence: row.sequence,
    lane: fromLane(accounts, row.lane),
    eventType: row.event_type,
    state: row.state,
    at: row.at,
    failures: row.failures,
    attempts: row.attempts,
    ...(row.due_at !== null && { dueAt: row.due_at }),
  };
}

export function toAttempt(row: AttemptRow): WebhookAttempt {
  return {
    at: row.at,
    ms: row.ms,
    ...(row.status !== null && { status: row.status }),
    ...(row.head !== null && { head: row.head }),
    ...(row.error_code !== null && { error: { code: row.error_code, message: row.error ?? "" } }),
  };
}
