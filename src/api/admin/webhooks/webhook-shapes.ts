/** The schemas of events and attempts as operators see them, and what fills them. */
import Type from "typebox";
import { toIso } from "../../../core/time/timestamp.ts";
import { toWebhookId } from "../../../core/webhooks/webhook-event.ts";
import {
  type EventKey,
  WEBHOOK_STATES,
  type WebhookAttempt,
  type WebhookRecord,
} from "../../../core/webhooks/webhook-outbox.ts";
import { shownFields } from "../shown-fields.ts";

const time = Type.String({ format: "date-time" });

const result = {
  at: time,
  latency_ms: Type.Integer(),
  status: Type.Optional(Type.Integer({ description: "Of the answer, if there was one" })),
  error: Type.Optional(Type.Object({ code: Type.String(), message: Type.String() })),
};

export const shownAttempt = Type.Object({
  ...result,
  answer: Type.Optional(Type.String({ description: "Its first 1,024 bytes" })),
});

export const shownEvent = Type.Object({
  id: Type.String({ description: "The `webhook-id` that receivers see" }),
  account_id: shownFields.account_id,
  host: Type.String(),
  message_id: Type.String({ format: "uuid" }),
  sequence: Type.Integer(),
  type: Type.String(),
  state: Type.Enum(WEBHOOK_STATES, { description: "`held`: waits for the previous event of its message" }),
  occurred_at: time,
  failures: Type.Integer({ description: "Since it was first due, or replayed" }),
  attempts: Type.Integer(),
  next_attempt_at: Type.Optional(time),
  last_attempt: Type.Optional(Type.Object(result, { description: "Absent until it has been tried" })),
});

/** One event by itself. */
export const shownEventWithAttempts = Type.Object({
  ...shownEvent.properties,
  last_attempts: Type.Array(shownAttempt, { description: "The last 20, oldest first" }),
});

export function toShownEvent(record: WebhookRecord) {
  return {
    id: toWebhookId(record.messageId, record.sequence),
    account_id: record.lane.accountId,
    host: record.lane.host,
    message_id: record.messageId,
    sequence: record.sequence,
    type: record.eventType,
    state: record.state,
    occurred_at: toIso(record.at),
    failures: record.failures,
    attempts: record.attempts,
    next_attempt_at:
      record.state === "waiting" && record.dueAt !== undefined ? toIso(record.dueAt) : undefined,
    last_attempt: record.lastAttempt && toShownAttempt(record.lastAttempt),
  };
}

export function toShownAttempt({ at, ms, status, head, error }: WebhookAttempt) {
  return { at: toIso(at), latency_ms: ms, status, answer: head, error };
}

/** The event a `webhook-id` names. */
export function parseWebhookId(id: string): EventKey | undefined {
  const [, messageId, sequence] = /^evt_([0-9a-f-]{36})_([1-9]\d{0,5})$/.exec(id) ?? [];
  return messageId === undefined ? undefined : { messageId, sequence: Number(sequence) };
}

/** Whether a text has the form of the outbox's cursors: a time, and the number of a row. */
export function isWebhookCursor(text: string): boolean {
  return /^\d{1,15}-\d{1,15}$/.test(text);
}
