/** What an event holds, in a webhook and in the feed. */
import Type from "typebox";
import { RECEIVED } from "../../core/webhooks/received-event.ts";
import { mailbox } from "../email/email-resource.ts";
import { InboundSms } from "../inbound/inbound-resource.ts";

/** Delivered to the account's `inbound_url`. */
export const ReceivedEvent = Type.Object(
  {
    type: Type.Literal(RECEIVED),
    timestamp: Type.String({ format: "date-time", description: "When the message was received" }),
    data: InboundSms,
  },
  { title: "ReceivedEvent" },
);

export const EVENT_TYPES = [
  "sms.sent",
  "sms.delivered",
  "sms.undelivered",
  "sms.failed",
  "sms.expired",
  "email.sent",
  "email.delivered",
  "email.bounced",
  "email.failed",
];

export const DeliveryEvent = Type.Object(
  {
    type: Type.String({ enum: EVENT_TYPES }),
    timestamp: Type.String({ format: "date-time", description: "When the event happened" }),
    data: Type.Object({
      message_id: Type.String(),
      account_id: Type.String(),
      to: Type.Optional(
        Type.Union([
          Type.String({ description: "SMS: the number" }),
          Type.Array(mailbox("A recipient"), { description: "Email: `to` of the message" }),
        ]),
      ),
      recipient: Type.Optional(Type.String({ description: "Email: the address the event is about" })),
      status: Type.String({ description: "Of the message; where there is a `recipient`, of that recipient" }),
      sequence: Type.Integer({ minimum: 1, description: "Counts the events of a message" }),
      occurred_at: Type.String({ format: "date-time" }),
      tags: Type.Optional(Type.Array(Type.String())),
      metadata: Type.Optional(Type.Object({}, { additionalProperties: true })),
      error: Type.Optional(
        Type.Object(
          { code: Type.String(), message: Type.String() },
          {
            description:
              "Why it was not delivered. With the code `unconfirmed` it may have been: the answer to an attempt was lost",
          },
        ),
      ),
      segments: Type.Optional(Type.Integer({ description: "`sms.sent`: of how many, where it is known" })),
      encoding: Type.Optional(Type.String({ description: "`sms.sent`: gsm7 or ucs2, where it is known" })),
    }),
  },
  { title: "DeliveryEvent" },
);
