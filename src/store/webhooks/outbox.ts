import type { ListOrder } from "../../core/lists/list-order.ts";
import type { Sweeper } from "../../core/queue/in-flight-jobs.ts";
import type {
  ClaimedWebhook,
  EventKey,
  Lane,
  WebhookAttempt,
  WebhookCursor,
  WebhookRecord,
  WebhookSelection,
  WebhookSettlement,
} from "../../core/webhooks/webhook-outbox.ts";

/**
 * Public events on their way to callback URLs. They are written by the transaction that moves their message, and go
 * with it when it is pruned. Of a message, an event is held until the one before it is delivered, has failed twice,
 * or rests.
 */
export interface Outbox {
  /** Lanes with events in line, in a fixed order, after the one given. */
  readyLanes(page: { readonly after?: Lane; readonly limit: number }): Promise<readonly Lane[]>;
  /**
   * Leases events in line: of each lane named its oldest, at most as many as the claim says. Costs what it brings, whatever
   * else waits. No other claim gets an event before it is settled, or its lease has ended (`stage`).
   */
  claim(request: WebhookClaim): Promise<readonly ClaimedWebhook[]>;
  /**
   * Records deliveries and what becomes of their events, in one transaction. Where the claim is no longer the latest
   * nothing moves (`false` at that index), and the delivery is noted all the same.
   */
  settle(settlements: readonly WebhookSettlement[]): Promise<readonly boolean[]>;
  /**
   * Puts waiting events whose time has come in line, and leased ones whose lease has run out. The number moved.
   * `sweeper`: as in `Queue.stage`.
   */
  stage(now: number, limit: number, sweeper?: Sweeper): Promise<number>;
  /** When `stage` has something to do next; `undefined` while nothing waits. */
  nextDueAt(): Promise<number | undefined>;
  /** In order of time. A page may be short, or empty, and still have a `next`, which goes on in the same order. */
  list(selection: WebhookSelection, page: OrderedWebhookPage): Promise<WebhookList>;
  /** The events of one message, in order. */
  ofMessage(messageId: string): Promise<readonly WebhookRecord[]>;
  /** The last deliveries of an event, oldest first; `undefined` if there is no such event with a callback URL. */
  attempts(event: EventKey): Promise<readonly WebhookAttempt[] | undefined>;
  /** Puts one event in line as if it were new, whatever became of it. False where there is none, or it is being delivered. */
  replay(event: EventKey): Promise<boolean>;
  /**
   * The same for all of a selection that rest (delivered or failed), a page at a time. Events of one message keep their
   * order.
   */
  replayAll(selection: WebhookSelection, page: WebhookPage): Promise<ReplayedPage>;
  /** Counted up to 100,000 each. */
  backlog(): Promise<{ readonly ready: number; readonly waiting: number }>;
  /** Calls `listener` with lanes that may have got events in line. */
  onReady(listener: (lane: Lane) => void): () => void;
}

export interface WebhookClaim {
  /** Each lane once, with how many of its events are wanted. */
  readonly lanes: readonly { readonly lane: Lane; readonly limit: number }[];
  readonly now: number;
  readonly leaseMs: number;
  /** See `Claimant`. */
  readonly process?: string;
}

export interface WebhookPage {
  readonly after?: WebhookCursor;
  readonly limit: number;
}

export interface OrderedWebhookPage extends WebhookPage {
  /** Absent: the oldest first. */
  readonly order?: ListOrder;
}

export interface WebhookList {
  readonly events: readonly WebhookRecord[];
  readonly next?: WebhookCursor;
}

export interface ReplayedPage {
  readonly replayed: number;
  readonly next?: WebhookCursor;
}
