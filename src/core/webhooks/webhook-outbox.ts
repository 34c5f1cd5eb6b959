/** What the webhook worker gets from the outbox, and what it gives back. Times are Unix milliseconds. */

/** The webhooks of one account to one host: what waits, and what is paused, together. */
export interface Lane {
  readonly accountId: string;
  /** As in the URL, with a port that is not 443. */
  readonly host: string;
}

/** A lane that is not tried at the moment, and why. */
export interface PausedHost extends Lane {
  /** Until when, at the earliest. */
  readonly until: number;
  /** Since the last success. */
  readonly failures: number;
  readonly reason: string;
}

/** One public event of a message. */
export interface EventKey {
  readonly messageId: string;
  readonly sequence: number;
}

/** An event that is leased for delivery. */
export interface ClaimedWebhook extends EventKey {
  readonly id: number;
  /** Rises with every claim and fences every later write about the event. */
  readonly claim: number;
  readonly lane: Lane;
  readonly url: string;
  /** Failed deliveries so far, since it was first due or replayed. */
  readonly failures: number;
  /** JSON, the same on every delivery. */
  readonly body: string;
}

/** What becomes of an event after one delivery. */
export type WebhookVerdict =
  /** The receiver took it: any 2xx. */
  | { readonly kind: "delivered" }
  | { readonly kind: "again"; readonly at: number }
  /** It rests as failed, until somebody replays it. */
  | { readonly kind: "ended"; readonly reason: "gone" | "refused_url" | "spent" }
  /** Called off before anything is known: as if it had never been tried. */
  | { readonly kind: "released" };

/** One delivery, as operators see it. */
export interface WebhookAttempt {
  /** When it began. */
  readonly at: number;
  readonly ms: number;
  /** Where there was an answer. */
  readonly status?: number;
  /** The answer's first 1 KiB. */
  readonly head?: string;
  /** Where there was none: a code (`timeout`, `dns`, `tls` …) and words. */
  readonly error?: { readonly code: string; readonly message: string };
}

export interface WebhookSettlement {
  readonly id: number;
  /** Proves that it is still the event that was claimed: ids of events that are gone may be given again. */
  readonly messageId: string;
  readonly claim: number;
  readonly verdict: WebhookVerdict;
  readonly attempt: WebhookAttempt;
}

/**
 * held: for the event before it. ready: in line. waiting: for its next try. leased: being delivered. delivered,
 * failed: at rest, and may be replayed.
 */
export const WEBHOOK_STATES = ["held", "ready", "waiting", "leased", "delivered", "failed"] as const;
export type WebhookState = (typeof WEBHOOK_STATES)[number];

/** An event and how its delivery stands. */
export interface WebhookRecord extends EventKey {
  readonly lane: Lane;
  readonly eventType: string;
  readonly state: WebhookState;
  /** When the event happened. */
  readonly at: number;
  readonly failures: number;
  /** Of all its deliveries; the last ones are kept. */
  readonly attempts: number;
  /** `waiting`: its next try. `leased`: the end of the lease. */
  readonly dueAt?: number;
}

/** Which events of an account; all that is given must hold. */
export interface WebhookSelection {
  readonly accountId: string;
  readonly host?: string;
  readonly state?: WebhookState;
  /** Events that happened in [since, until). */
  readonly since?: number;
  readonly until?: number;
}

/** Where the next page goes on; opaque. */
export type WebhookCursor = string;

/** The host of a callback URL, as lanes name it. Of what is no URL it is empty: that is refused at delivery. */
export function hostOf(url: string): string {
  try {
    return new URL(url).host;
  } catch {
    return "";
  }
}
