import Type, { type TSchema } from "typebox";
import { RECEIVED } from "../../core/webhooks/received-event.ts";
import { InboundSms } from "../inbound/inbound-resource.ts";

type Json = Readonly<Record<string, unknown>>;

/** Describes what webhooks deliver (Standard Webhooks 1.0.0). Adds the schemas of their bodies to `schemas`. */
export function webhooks(schemas: Map<string, TSchema>): Json {
  schemas.set("DeliveryEvent", DeliveryEvent);
  schemas.set("ReceivedEvent", ReceivedEvent);
  const ofMessages = EVENT_TYPES.map((type) => [type, { post: describe(type) }] as const);
  return { ...Object.fromEntries(ofMessages), [RECEIVED]: { post: describe(RECEIVED, RECEIVED_WORDS) } };
}

/** Delivered to the account's `inbound_url`. */
const ReceivedEvent = Type.Object(
  {
    type: Type.Literal(RECEIVED),
    timestamp: Type.String({ format: "date-time", description: "When the message was received" }),
    data: InboundSms,
  },
  { title: "ReceivedEvent" },
);

const RECEIVED_WORDS = { summary: "An inbound SMS was received", schema: "ReceivedEvent" };

const EVENT_TYPES = [
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

const DeliveryEvent = Type.Object(
  {
    type: Type.String({ enum: EVENT_TYPES }),
    timestamp: Type.String({ format: "date-time", description: "When the event happened" }),
    data: Type.Object({
      message_id: Type.String(),
      account_id: Type.String(),
      to: Type.Optional(Type.Unknown({ description: "Recipient, or recipients, as the message has them" })),
      recipient: Type.Optional(Type.String({ description: "Email: the address the event is about" })),
      status: Type.String({ description: "Of the message; where there is a `recipient`, of that recipient" }),
      sequence: Type.Integer({ minimum: 1, description: "Counts the events of a message" }),
      occurred_at: Type.String({ format: "date-time" }),
      tags: Type.Optional(Type.Array(Type.String())),
      metadata: Type.Optional(Type.Object({}, { additionalProperties: true })),
      error: Type.Optional(Type.Object({ code: Type.String(), message: Type.String() })),
      segments: Type.Optional(Type.Integer({ description: "`sms.sent`: of how many, where it is known" })),
      encoding: Type.Optional(Type.String({ description: "`sms.sent`: gsm7 or ucs2, where it is known" })),
    }),
  },
  { title: "DeliveryEvent" },
);

function describe(
  type: string,
  words = { summary: `A message is ${type.slice(type.indexOf(".") + 1)}`, schema: "DeliveryEvent" },
): Json {
  return {
    operationId: type.replace(/\.(.)/, (_, letter: string) => letter.toUpperCase()),
    summary: words.summary,
    tags: ["Webhooks"],
    security: [],
    parameters: [
      header("webhook-id", "The same on every delivery of the event"),
      header("webhook-timestamp", "Unix seconds of this delivery"),
      header(
        "webhook-signature",
        "`v1,` and the base64 HMAC-SHA256 of `id.timestamp.body`; two during a rotation",
      ),
    ],
    requestBody: {
      required: true,
      content: { "application/json": { schema: { $ref: `#/components/schemas/${words.schema}` } } },
    },
    responses: {
      "2XX": { description: "Received. Any other answer, or none within 15 s, is tried again." },
      "410": { description: "Never to be tried again." },
    },
  };
}

function header(name: string, description: string): Json {
  return { name, in: "header", required: true, description, schema: { type: "string" } };
}
