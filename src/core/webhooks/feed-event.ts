/** What the event feed holds: every public event of an account, in the order in which they were committed. */
import type { EventMessage, PublicEntry } from "./webhook-event.ts";

export type FeedEvent = MessageEvent | OtherEvent;

/** A step of a message of ours, as its timeline has it. */
export interface MessageEvent {
  readonly kind: "message";
  readonly message: EventMessage;
  readonly entry: PublicEntry;
}

/** Anything else; it tells all by itself. */
export interface OtherEvent {
  readonly kind: "other";
  /** The `webhook-id`: one of its own, without a `.`. */
  readonly id: string;
  /** For example `sms.received`. */
  readonly type: string;
  /** Unix milliseconds. */
  readonly at: number;
  /** In the interface's words. */
  readonly data: Readonly<Record<string, unknown>>;
}
