/** The event feed: every public event of an account, in the order in which they were committed. */
import type { EventMessage, PublicEntry } from "./webhook-event.ts";

export type FeedEvent = MessageEvent | OtherEvent;

/** A public entry of a message's timeline. */
export interface MessageEvent {
  readonly kind: "message";
  readonly message: EventMessage;
  readonly entry: PublicEntry;
}

/** Any other event; it holds all of its data. */
export interface OtherEvent {
  readonly kind: "other";
  /** The `webhook-id` of the event, without a `.`. */
  readonly id: string;
  /** For example `sms.received`. */
  readonly type: string;
  /** Unix milliseconds. */
  readonly at: number;
  /** As the interface shows it, snake_case. */
  readonly data: Readonly<Record<string, unknown>>;
}
