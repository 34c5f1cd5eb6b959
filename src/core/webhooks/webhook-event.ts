/** A public event: the body of a webhook, or an item of the event feed. In snake_case, because it is sent as it is. */
import type { Content, MessageError, TimelineEntry } from "../messages/message.ts";
import { present } from "../present.ts";
import { toIso } from "../time/timestamp.ts";

/** The type of the event by which an operator tests a receiver. It is about no message. */
export const TEST_EVENT = "webhook.test";

/** A timeline entry that is a public event. */
export type PublicEntry = TimelineEntry & Required<Pick<TimelineEntry, "sequence" | "eventType">>;

/** The part of a stored message that its events show. */
export interface EventMessage {
  readonly id: string;
  readonly accountId: string;
  /** SMS: the E.164 number. Email: not read. */
  readonly recipient: string;
  readonly content: Content;
}

/** Fields without a value are left out. */
export interface WebhookEvent {
  /** For example `sms.delivered`. */
  readonly type: string;
  /** ISO 8601: when the event happened, the same on every delivery. */
  readonly timestamp: string;
  readonly data: {
    readonly message_id: string;
    readonly account_id: string;
    /** SMS: the number. Email: the To recipients, as Get Email shows them. */
    readonly to: string | readonly { readonly email: string; readonly name?: string }[];
    /** Email: the address that the event is about. */
    readonly recipient?: string;
    /** The status of the `recipient`, if there is one, or else of the message. */
    readonly status: TimelineEntry["status"];
    /** Counts the events of a message from 1. */
    readonly sequence: number;
    readonly occurred_at: string;
    readonly tags?: readonly string[];
    readonly metadata?: Readonly<Record<string, unknown>>;
    readonly error?: MessageError;
    /** In `sms.sent`, if the connector counts them. */
    readonly segments?: number;
    readonly encoding?: string;
  };
}

export function toWebhookEvent(message: EventMessage, entry: PublicEntry): WebhookEvent {
  const { content } = message;
  const at = toIso(entry.at);
  return {
    type: entry.eventType,
    timestamp: at,
    data: present({
      message_id: message.id,
      account_id: message.accountId,
      to: content.channel === "sms" ? message.recipient : content.to,
      recipient: entry.recipient,
      status: entry.status,
      sequence: entry.sequence,
      occurred_at: at,
      tags: content.tags,
      metadata: content.metadata,
      error: entry.error && { code: entry.error.code, message: entry.error.message },
      ...sizeOf(entry),
    }),
  };
}

export function isPublic(entry: TimelineEntry): entry is PublicEntry {
  return entry.sequence !== undefined && entry.eventType !== undefined;
}

/**
 * The `webhook-id`: the same on every delivery of the event, replays included, so that receivers can recognise repeats.
 * It has no `.`, which separates the parts of the text that is signed (Standard Webhooks 1.0.0).
 */
export function toWebhookId(messageId: string, sequence: number): string {
  return `evt_${messageId}_${sequence}`;
}

function sizeOf({ eventType, detail }: PublicEntry): {
  segments: number | undefined;
  encoding: string | undefined;
} {
  const { segments, encoding } = eventType === "sms.sent" && detail ? detail : {};
  return {
    segments: typeof segments === "number" ? segments : undefined,
    encoding: typeof encoding === "string" ? encoding : undefined,
  };
}
