/** The rows of the outbox, and how they are converted from and to the types of `core`. */
import type {
  Lane,
  WebhookAttempt,
  WebhookCursor,
  WebhookRecord,
  WebhookResult,
  WebhookSelection,
  WebhookState,
  WebhookVerdict,
} from "../../core/webhooks/webhook-outbox.ts";
import type { OrderedWebhookPage } from "./outbox.ts";

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

/** Everything about an attempt but the beginning of the answer, which is only read to show a single event. */
export const RESULT_COLUMNS = "at, ms, status, error_code, error";

export interface ResultRow {
  readonly at: number;
  readonly ms: number;
  readonly status: number | null;
  readonly error_code: string | null;
  readonly error: string | null;
}

export interface AttemptRow extends ResultRow {
  readonly head: string | null;
}

/** A lane as one column, so that an index can step from lane to lane. */
export function toLane(account: number, host: string): string {
  return `${account} ${host}`;
}

/** The account's number, and the host. */
export function splitLane(lane: string): readonly [account: number, host: string] {
  const space = lane.indexOf(" ");
  return [Number(lane.slice(0, space)), lane.slice(space + 1)];
}

/** @param last its attempt with the number `attempts` */
export function toRecord(row: WebhookRow, lane: Lane, last: ResultRow | undefined): WebhookRecord {
  return {
    messageId: row.message_id,
    sequence: row.sequence,
    lane,
    eventType: row.event_type,
    state: row.state,
    at: row.at,
    failures: row.failures,
    attempts: row.attempts,
    ...(last && { lastAttempt: toResult(last) }),
    ...(row.due_at !== null && { dueAt: row.due_at }),
  };
}

export function toAttempt(row: AttemptRow): WebhookAttempt {
  return { ...toResult(row), ...(row.head !== null && { head: row.head }) };
}

function toResult(row: ResultRow): WebhookResult {
  return {
    at: row.at,
    ms: row.ms,
    ...(row.status !== null && { status: row.status }),
    ...(row.error_code !== null && { error: { code: row.error_code, message: row.error ?? "" } }),
  };
}

/** The most attempts that are kept of an event. Its schedule has nine, and a replay starts it anew. */
export const MAX_ATTEMPTS = 20;

/** After this many failures an event no longer holds up the next one of its message. */
export const OVERTAKEN_AFTER_FAILURES = 2;

/** Whether the event holds up the next one: it is not at rest, and has not failed often enough to be overtaken. */
export function isBlocking({ state, failures }: Pick<WebhookRow, "state" | "failures">): boolean {
  return !isAtRest(state) && failures < OVERTAKEN_AFTER_FAILURES;
}

function isAtRest(state: WebhookState): boolean {
  return state === "delivered" || state === "failed";
}

/** Whether a replay of a selection takes a webhook: one that waits for its next try only where such are asked for, and then no others. */
export function isReplayed(state: WebhookState, { state: wanted }: Pick<WebhookSelection, "state">): boolean {
  return wanted === "waiting" ? state === "waiting" : isAtRest(state);
}

/** A condition for webhooks that are not at rest: their messages are kept for them, as the tries go on for two days. */
export const UNFINISHED = "state NOT IN ('delivered', 'failed')";

/**
 * Whether the event is in line for its first try: then it can still wait for the one before it, should that be replayed after it.
 * Replays go by the events' times, and of two processes the one with the later event may have the earlier clock.
 */
export function isUntried({ state, failures }: Pick<WebhookRow, "state" | "failures">): boolean {
  return state === "ready" && failures === 0;
}

export interface Outcome {
  readonly state: "delivered" | "waiting" | "failed" | "ready";
  readonly dueAt: number | null;
  readonly failures: number;
}

/** What a verdict makes of an event. `failures`: how often it has failed before. */
export function outcomeOf(verdict: WebhookVerdict, failures: number): Outcome {
  switch (verdict.kind) {
    case "delivered":
      return { state: "delivered", dueAt: null, failures };
    case "again":
      return { state: "waiting", dueAt: verdict.at, failures: failures + 1 };
    case "ended":
      return { state: "failed", dueAt: null, failures: failures + 1 };
    case "released":
      return { state: "ready", dueAt: null, failures };
  }
}

/** How many rows one call may pass over, because of their host or state, as a multiple of its limit. */
const LOOKS_PER_LIMIT = 10;
const LEAST_LOOKS = 1_000;

/** How many rows a page of `limit` events may look at. If an index holds exactly the selected ones, one more is enough. */
export function looksOf({ host, state }: Passing, limit: number): number {
  const isIndexed = host === undefined && (state === undefined || state === "failed");
  return isIndexed ? limit + 1 : Math.max(LEAST_LOOKS, limit * LOOKS_PER_LIMIT);
}

/** The conditions for which a walk may pass events over. */
type Passing = Pick<WebhookSelection, "host" | "state">;

export interface WebhookWalk {
  readonly rows: readonly WebhookRow[];
  readonly next?: WebhookCursor;
}

/** The page of selected events among the rows that were looked at, in their order: `looks` rows, or all that were left. */
export function selectPage(
  looked: readonly WebhookRow[],
  { host, state }: Passing,
  { limit, looks }: { readonly limit: number; readonly looks: number },
): WebhookWalk {
  const found = looked.filter(
    (row) =>
      (host === undefined || splitLane(row.lane)[1] === host) && (state === undefined || row.state === state),
  );
  return toPage(found, { limit, end: looked.length === looks ? looked.at(-1) : undefined });
}

/**
 * @param found all events that the walk found, or at least the first `limit` + 1 of them
 * @param end the last row that the walk looked at, if there may be more behind it
 */
export function toPage(
  found: readonly WebhookRow[],
  { limit, end }: { readonly limit: number; readonly end: Pick<WebhookRow, "at" | "id"> | undefined },
): WebhookWalk {
  const rows = found.slice(0, limit);
  const last = found.length > limit ? rows.at(-1) : end;
  return { rows, ...(last && { next: `${last.at}-${last.id}` }) };
}

/** Where a walk begins, and the time at which it ends. */
export interface WalkBounds {
  /** The walk begins after this row, in its order. Ids begin with 1. */
  readonly from: { readonly at: number; readonly id: number };
  /** Oldest first: the walk ends before this time. Newest first: it ends with this time. */
  readonly end: number;
}

export function boundsOf(
  { since = 0, until = Number.MAX_SAFE_INTEGER }: Pick<WebhookSelection, "since" | "until">,
  { after, order }: Pick<OrderedWebhookPage, "after" | "order">,
): WalkBounds {
  const [start, end] = order === "newest" ? [until, since] : [since, until];
  return { from: readCursor(after) ?? { at: start, id: 0 }, end };
}

function readCursor(text: WebhookCursor | undefined): WalkBounds["from"] | undefined {
  const [, at, id] = /^(\d{1,15})-(\d{1,15})$/.exec(text ?? "") ?? [];
  return at === undefined ? undefined : { at: Number(at), id: Number(id) };
}
