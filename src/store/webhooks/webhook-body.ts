import type { Content } from "../../core/messages/message.ts";
import { receivedBody } from "../../core/webhooks/received-event.ts";
import { isPublic, toWebhookEvent } from "../../core/webhooks/webhook-event.ts";
import { type InboundRow, toInboundMessage } from "../inbound/inbound-rows.ts";
import { joinContent, type TimelineRow, toTimelineEntry } from "../messages/message-rows.ts";

/** What is delivered, and where. */
export interface WebhookBody {
  readonly url: string;
  readonly body: string;
}

type Nullable<T> = { readonly [Key in keyof T]: T[Key] | null };

/** A webhook with its message, content and timeline entry, which are NULL if the message is an inbound one, or gone. */
export interface EventRow extends Nullable<TimelineRow> {
  readonly message_id: string;
  readonly message_recipient: string | null;
  readonly envelope: string | null;
}

/** Makes the bodies of webhooks; `undefined` if nothing is left to tell of. Keeps the content that it has read last. */
export function createBodyWriter(): (row: EventRow, accountId: string) => WebhookBody | undefined {
  const contentOf = createContentReader();
  return (row, accountId) => {
    const entry = hasEntry(row) ? toTimelineEntry(row) : undefined;
    if (row.message_recipient === null || row.envelope === null || !entry || !isPublic(entry))
      return undefined;
    const content = contentOf(row.envelope);
    const message = { id: row.message_id, accountId, recipient: row.message_recipient, content };
    return { url: content.callbackUrl ?? "", body: JSON.stringify(toWebhookEvent(message, entry)) };
  };
}

function hasEntry(row: EventRow): row is EventRow & TimelineRow {
  return row.kind !== null;
}

/** Keeps the last content, since the messages of a batch share theirs, and come one after the other. */
function createContentReader(): (envelope: string) => Content {
  let last: { readonly envelope: string; readonly content: Content } | undefined;
  return (envelope) => {
    if (last?.envelope !== envelope) last = { envelope, content: joinContent(envelope, null) };
    return last.content;
  };
}

/** The body of a webhook about a message from a handset. */
export function inboundBody(row: InboundRow): WebhookBody {
  return { url: row.webhook_url ?? "", body: receivedBody(toInboundMessage(row)) };
}
