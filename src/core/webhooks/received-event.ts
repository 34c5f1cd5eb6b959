/** The event for an SMS from a handset, `sms.received`, in webhooks and in the feed. */
import type { InboundMessage } from "../inbound/inbound.ts";
import { present } from "../present.ts";
import { toIso } from "../time/timestamp.ts";
import type { OtherEvent } from "./feed-event.ts";
import { type PublicEntry, toWebhookId } from "./webhook-event.ts";

export const RECEIVED = "sms.received";

/** An inbound message has one event. */
const RECEIVED_SEQUENCE = 1;

export function toReceivedEvent(message: InboundMessage): OtherEvent {
  return {
    kind: "other",
    id: receivedEventId(message.id),
    type: RECEIVED,
    at: message.receivedAt,
    data: toReceivedData(message),
  };
}

/** The id of the event about an inbound message. */
export function receivedEventId(messageId: string): string {
  return toWebhookId(messageId, RECEIVED_SEQUENCE);
}

/** The event as a timeline entry, for the outbox. An inbound message has no timeline of its own. */
export function toReceivedEntry({ receivedAt: at }: InboundMessage): PublicEntry {
  const step = { position: 0, at, kind: "status", status: "received" } as const;
  return { ...step, sequence: RECEIVED_SEQUENCE, eventType: RECEIVED };
}

/** The message as the interface shows it, in events and in lists. */
export function toReceivedData(message: InboundMessage) {
  return present({
    message_id: message.id,
    account_id: message.accountId,
    from: message.from,
    to: message.to,
    text: message.text,
    segments: message.segments,
    encoding: message.encoding,
    keyword: message.keyword,
    partial: message.isPartial,
    received_at: toIso(message.receivedAt),
  });
}

/** The body of its webhook. */
export function receivedBody(message: InboundMessage): string {
  const { type, at, data } = toReceivedEvent(message);
  return JSON.stringify({ type, timestamp: toIso(at), data });
}
