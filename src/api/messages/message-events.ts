/** The timeline of one message, as the account that sent it may see it. */
import Type from "typebox";
import type { ChannelName, TimelineEntry } from "../../core/messages/message.ts";
import { toIso } from "../../core/time/timestamp.ts";
import { toWebhookId } from "../../core/webhooks/webhook-event.ts";
import type { MessageStore } from "../../store/store.ts";
import type { Answer } from "../answer.ts";
import type { Call, Endpoint } from "../endpoint.ts";
import { messageNotFound } from "../errors.ts";
import { MESSAGE_CHANNELS } from "./message-channels.ts";
import { messageNamed } from "./message-id.ts";

export function messageEventEndpoints(messages: Pick<MessageStore, "timeline">): readonly Endpoint[] {
  return MESSAGE_CHANNELS.map(({ channel, name, path, tag }) => ({
    method: "GET",
    path: `${path}/{message_id}/events`,
    operation: `list${name}Events`,
    summary: "Read what happened to a message: its events, attempts and receipts",
    tag,
    auth: "api-key",
    responses: {
      200: { description: "In order.", schema: MessageTimeline },
      404: { description: "`message not found`: unknown, or older than 7 days." },
    },
    handle: (call) => readTimeline(messages, channel, call),
  }));
}

/** The kinds of entries that accounts see; all others are for operators only, unless they are public events. */
const SHOWN_KINDS = ["status", "attempt", "late_answer", "interrupted", "receipt", "late_receipt"] as const;

/** The error of an entry. */
export const entryError = Type.Optional(
  Type.Object(
    { code: Type.String(), message: Type.String() },
    { description: "Of this attempt or receipt, or the reason for this status" },
  ),
);

const MessageTimeline = Type.Object(
  {
    data: Type.Array(
      Type.Object({
        at: Type.String({ format: "date-time" }),
        kind: Type.String({
          enum: [...SHOWN_KINDS],
          description:
            "`attempt`: it was handed to a provider, or that failed; `interrupted`: an attempt ended without an answer; " +
            "`late_answer`: the answer came after its time limit, or an attempt that was taken for interrupted had sent nothing; " +
            "`receipt`: the provider reported what became of it; `late_receipt`: a " +
            "report after the final status, which it does not change; `status`: any other change of status",
        }),
        status: Type.String({
          description: "Status after the entry: of the message, or of the `recipient` if there is one",
        }),
        id: Type.Optional(Type.String({ description: "Public events only: the `webhook-id`" })),
        type: Type.Optional(Type.String({ examples: ["sms.sent"] })),
        sequence: Type.Optional(Type.Integer({ minimum: 1 })),
        recipient: Type.Optional(Type.String()),
        error: entryError,
        segments: Type.Optional(Type.Integer()),
        encoding: Type.Optional(Type.String()),
        receipt_status: Type.Optional(Type.String({ description: "What the receipt said" })),
      }),
    ),
  },
  { title: "MessageTimeline" },
);

async function readTimeline(
  messages: Pick<MessageStore, "timeline">,
  channel: ChannelName,
  call: Call,
): Promise<Answer> {
  const named = messageNamed(call, channel);
  const timeline = await messages.timeline(named);
  if (!timeline) throw messageNotFound();
  return {
    status: 200,
    json: JSON.stringify({ data: timeline.filter(isShown).map((entry) => toResource(named.id, entry)) }),
  };
}

function isShown({ kind, sequence }: TimelineEntry): boolean {
  return sequence !== undefined || SHOWN_KINDS.some((each) => each === kind);
}

/** Leaves out connectors, provider ids and the provider's own words: those are for operators only. */
function toResource(messageId: string, entry: TimelineEntry) {
  const { at, kind, status, sequence, eventType, recipient, error, detail = {} } = entry;
  return {
    at: toIso(at),
    // What an attempt has sent counts though its lease was lost; whose lease it was is for operators only.
    kind: kind === "lost_settle" ? "attempt" : kind,
    status,
    id: sequence === undefined ? undefined : toWebhookId(messageId, sequence),
    type: eventType,
    sequence,
    recipient,
    error: error && { code: error.code, message: error.message },
    segments: detail.segments,
    encoding: detail.encoding,
    receipt_status: detail.receipt_status,
  };
}
