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
 * Public events on their way to callback URLs. An event is written by the transaction that moves its message, and is deleted
 * with the message. It is held until the message's previous event has been delivered, has failed twice, or is at rest.
 */
export interface Outbox {
  /** Lanes that have events in line, in a fixed order; `after`: only those behind this one. */
  readyLanes(page: { readonly after?: Lane; readonly limit: number }): Promise<readonly Lane[]>;
  /**
   * Leases the oldest events in line of each lane (or the newest), at most as many as the claim asks for. The cost depends on the events
   * claimed, not on how many others wait. No other claim gets such an event until it is settled, or its lease has ended
   * (`stage`).
   */
  claim(request: WebhookClaim): Promise<readonly ClaimedWebhook[]>;
  /**
   * Records attempts at deliveries and what becomes of their events, in one transaction. The result is `false` for a
   * settlement whose claim is no longer the latest: the event does not move, but the attempt is noted.
   */
  settle(settlements: readonly WebhookSettlement[]): Promise<readonly boolean[]>;
  /**
   * Puts in line the waiting events whose time has come, and the leased ones whose lease has run out. Returns how many it
   * moved. `sweeper`: as in `Queue.stage`.
   */
  stage(now: number, limit: number, sweeper?: Sweeper): Promise<number>;
  /** When `stage` next has something to do; `undefined` if nothing waits. `now`: as in `Queue.nextDueAt`, for this call and for `stage`. */
  nextDueAt(now?: number): Promise<number | undefined>;
  /** The events of a selection, in order of time. A page may be short, or empty, and still have a `next`. */
  list(selection: WebhookSelection, page: OrderedWebhookPage): Promise<WebhookList>;
  /** The events of one message, in order. */
  ofMessage(messageId: string): Promise<readonly WebhookRecord[]>;
  /** The latest attempts to deliver an event, oldest first; `undefined` if there is no such event, or it has no callback URL. */
  attempts(event: EventKey): Promise<readonly WebhookAttempt[] | undefined>;
  /** Puts an event in line as if it were new, whatever became of it. False if there is none, or it is being delivered. */
  replay(event: EventKey): Promise<boolean>;
  /**
   * `replay` for all events of a selection that are delivered or failed, or, if it asks for `waiting`, for those that wait for their next
   * try, page by page. Events of one message keep their order.
   */
  replayAll(selection: WebhookSelection, page: WebhookPage): Promise<ReplayedPage>;
  /** How many events are in line, and how many wait; each counted up to 100,000. */
  backlog(): Promise<{ readonly ready: number; readonly waiting: number }>;
  /** Calls `listener` with each lane that may have new events in line. */
  onReady(listener: (lane: Lane) => void): () => void;
}

export interface WebhookClaim {
  /** Each lane once. */
  readonly lanes: readonly ClaimedLane[];
  readonly now: number;
  readonly leaseMs: number;
  /** See `Claimant`. */
  readonly process?: string;
}

export interface ClaimedLane {
  readonly lane: Lane;
  /** The most events to claim of it. */
  readonly limit: number;
  /** Takes the newest events in place of the oldest. */
  readonly isNewestFirst?: boolean;
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
