/** The events that the webhook worker claims from the outbox, and how it settles them. Times are Unix milliseconds. */

/** The webhooks of one account to one host, which wait, and are paused, together. */
export interface Lane {
  readonly accountId: string;
  /** As in the URL, with its port unless that is 443. */
  readonly host: string;
}

/** A lane that is paused, and why. */
export interface PausedHost extends Lane {
  /** The earliest time at which it is tried again. */
  readonly until: number;
  /** Failures since the last success. */
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
  /** Rises with every claim. A settlement under an older claim only adds its attempt to those that operators see. */
  readonly claim: number;
  readonly lane: Lane;
  readonly url: string;
  /** Failed deliveries since it was first due, or replayed. */
  readonly failures: number;
  /** JSON, the same on every delivery. */
  readonly body: string;
}

/** What becomes of an event after one delivery. */
export type WebhookVerdict =
  /** The receiver took it: any 2xx. */
  | { readonly kind: "delivered" }
  | { readonly kind: "again"; readonly at: number }
  /** It has failed, and is not tried again unless somebody replays it. */
  | { readonly kind: "ended"; readonly reason: "gone" | "refused_url" | "spent" }
  /** It was given up before its outcome was known, and counts as not tried. */
  | { readonly kind: "released" };

/** One delivery, as operators see it. */
export interface WebhookAttempt {
  /** When it began. */
  readonly at: number;
  readonly ms: number;
  /** The HTTP status, if there was an answer. */
  readonly status?: number;
  /** The answer's first 1 KiB. */
  readonly head?: string;
  /** If there was no answer: a code (`timeout`, `dns`, `tls` …) and a description. */
  readonly error?: { readonly code: string; readonly message: string };
}

export interface WebhookSettlement {
  readonly id: number;
  /** Proves that it is still the event that was claimed, since ids of deleted events may be reused. */
  readonly messageId: string;
  readonly claim: number;
  readonly verdict: WebhookVerdict;
  readonly attempt: WebhookAttempt;
}

/**
 * held: it waits for the message's previous event. ready: it may be claimed. waiting: it waits for its next attempt. leased: it
 * is being delivered. delivered, failed: nothing more happens, unless it is replayed.
 */
export const WEBHOOK_STATES = ["held", "ready", "waiting", "leased", "delivered", "failed"] as const;
export type WebhookState = (typeof WEBHOOK_STATES)[number];

/** A delivery without the beginning of its answer, which may be long. */
export type WebhookResult = Omit<WebhookAttempt, "head">;

/** An event, and the state of its delivery. */
export interface WebhookRecord extends EventKey {
  readonly lane: Lane;
  readonly eventType: string;
  readonly state: WebhookState;
  /** When the event happened. */
  readonly at: number;
  readonly failures: number;
  /** How many attempts there were in all. Only the last ones are kept. */
  readonly attempts: number;
  /** Absent until it has been tried. */
  readonly lastAttempt?: WebhookResult;
  /** `waiting`: its next try. `leased`: the end of the lease. */
  readonly dueAt?: number;
}

/** Selects events of an account; all given conditions must hold. */
export interface WebhookSelection {
  readonly accountId: string;
  readonly host?: string;
  readonly state?: WebhookState;
  /** Events that happened in [since, until). */
  readonly since?: number;
  readonly until?: number;
}

/** Where the next page begins; opaque. */
export type WebhookCursor = string;

/** The host that an operator means, as in `Lane.host`: a host, with its port if that is not 443, or a URL of it. */
export function parseHost(text: string): string | undefined {
  return hostOf(text.includes("://") ? text : `https://${text}`) || undefined;
}

export const NO_HOST = "must be a host such as hooks.example.com or hooks.example.com:8443, or a URL";

/** The host of a callback URL, as in `Lane.host`; empty for a text that is no URL, which is refused at delivery. */
export function hostOf(url: string): string {
  return URL.parse(url)?.host ?? "";
}
