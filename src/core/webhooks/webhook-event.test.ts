import { expect, test } from "bun:test";
import type { EmailContent, TimelineEntry } from "../messages/message.ts";
import {
  type EventMessage,
  isPublic,
  type PublicEntry,
  toWebhookEvent,
  toWebhookId,
} from "./webhook-event.ts";

const AT = Date.UTC(2026, 0, 15, 12, 0, 0, 7);
const ID = "019bc1a2-0000-7000-8000-000000000001";

const sms: EventMessage = {
  id: ID,
  accountId: "acc",
  recipient: "+919876543210",
  content: {
    channel: "sms",
    templateId: "t",
    variables: { "1": "secret code" },
    text: "your code is secret code",
    callbackUrl: "https://example.com/hook",
    tags: ["otp"],
    metadata: { order_id: "A-1001", nested: { deep: [1, null] } },
  },
};

const entry = (fields: Partial<PublicEntry>): PublicEntry => ({
  position: 3,
  at: AT,
  kind: "receipt",
  status: "delivered",
  sequence: 2,
  eventType: "sms.delivered",
  ...fields,
});

test("an SMS event says what happened to which message, with tags and metadata passed through", () => {
  expect(
    toWebhookEvent(sms, entry({ detail: { segments: 2, connector: "c", raw: "id:1 stat:DELIVRD" } })),
  ).toEqual({
    type: "sms.delivered",
    timestamp: "2026-01-15T12:00:00.007Z",
    data: {
      message_id: ID,
      account_id: "acc",
      to: "+919876543210",
      status: "delivered",
      sequence: 2,
      occurred_at: "2026-01-15T12:00:00.007Z",
      tags: ["otp"],
      metadata: { order_id: "A-1001", nested: { deep: [1, null] } },
    },
  });
});

test("a failure names its reason, and fields that nobody gave are absent", () => {
  const bare: EventMessage = { ...sms, content: { channel: "sms", callbackUrl: "https://example.com" } };
  const failed = entry({
    status: "failed",
    eventType: "sms.failed",
    error: { code: "smpp.0x0000000b", message: "invalid destination address" },
  });
  expect(Object.keys(toWebhookEvent(bare, failed).data)).toEqual([
    "message_id",
    "account_id",
    "to",
    "status",
    "sequence",
    "occurred_at",
    "error",
  ]);
  expect(toWebhookEvent(bare, failed).data.error).toEqual({
    code: "smpp.0x0000000b",
    message: "invalid destination address",
  });
});

test("sms.sent says how many segments went out and how they were written, where that is known", () => {
  const sent = entry({ kind: "attempt", status: "sent", eventType: "sms.sent" });
  expect(toWebhookEvent(sms, { ...sent, detail: { segments: 2, encoding: "gsm7" } }).data).toMatchObject({
    segments: 2,
    encoding: "gsm7",
  });
  expect(toWebhookEvent(sms, sent).data).not.toContainAnyKeys(["segments", "encoding"]);
});

test("an email event is about one recipient and shows neither body, subject, cc nor bcc", () => {
  const content: EmailContent = {
    channel: "email",
    from: { email: "a@example.com" },
    to: [{ email: "b@example.com", name: "B" }],
    cc: [{ email: "cc@example.com" }],
    bcc: [{ email: "bcc@example.com" }],
    subject: "Hello",
    bodyText: "secret body",
  };
  const event = toWebhookEvent(
    { id: ID, accountId: "acc", recipient: "", content },
    entry({ kind: "status", status: "bounced", eventType: "email.bounced", recipient: "b@example.com" }),
  );
  expect(event.data).toMatchObject({
    to: [{ email: "b@example.com", name: "B" }],
    recipient: "b@example.com",
    status: "bounced",
  });
  expect(JSON.stringify(event)).not.toMatch(/secret|cc@|Hello/);
});

test("only entries with a sequence and a type are public", () => {
  const { sequence: _sequence, eventType: _eventType, ...inner } = entry({});
  expect(isPublic(inner satisfies TimelineEntry)).toBe(false);
  expect(isPublic(entry({}))).toBe(true);
});

test("an event's id is the same every time, its own, and free of the full stop", () => {
  expect(toWebhookId(ID, 2)).toBe(toWebhookId(ID, 2));
  expect(toWebhookId(ID, 2)).not.toBe(toWebhookId(ID, 12));
  expect(toWebhookId(ID, 2)).not.toContain(".");
});
