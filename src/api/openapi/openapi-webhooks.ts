import Type, { type TSchema } from "typebox";
import { RECEIVED } from "../../core/webhooks/received-event.ts";
import { TEST_EVENT } from "../../core/webhooks/webhook-event.ts";
import { mailbox } from "../email/email-resource.ts";
import { InboundSms } from "../inbound/inbound-resource.ts";

type Json = Readonly<Record<string, unknown>>;

/** Describes what webhooks deliver (Standard Webhooks 1.0.0). Adds the schemas of their bodies to `schemas`. */
export function webhooks(schemas: Map<string, TSchema>): Json {
  schemas.set("DeliveryEvent", DeliveryEvent);
  schemas.set("ReceivedEvent", ReceivedEvent);
  schemas.set("TestEvent", TestEvent);
  const ofMessages = EVENT_TYPES.map(
    (type) => [type, { post: describe(type, wordsOfDelivery(type)) }] as const,
  );
  return {
    ...Object.fromEntries(ofMessages),
    [RECEIVED]: { post: describe(RECEIVED, RECEIVED_WORDS) },
    [TEST_EVENT]: { post: describe(TEST_EVENT, TEST_WORDS) },
  };
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

const RETRIED = "is tried again";
const RECEIVED_WORDS = {
  summary: "An inbound SMS was received",
  schema: "ReceivedEvent",
  otherwise: RETRIED,
};

const TestEvent = Type.Object(
  {
    type: Type.Literal(TEST_EVENT),
    timestamp: Type.String({ format: "date-time" }),
    data: Type.Object({ account_id: Type.String() }),
  },
  { title: "TestEvent" },
);

const TEST_WORDS = {
  summary: "An operator tests the receiver",
  schema: "TestEvent",
  otherwise: "is only shown to the operator",
};

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
      error: Type.Optional(Type.Object({ code: Type.String(), message: Type.String() })),
      segments: Type.Optional(Type.Integer({ description: "`sms.sent`: of how many, where it is known" })),
      encoding: Type.Optional(Type.String({ description: "`sms.sent`: gsm7 or ucs2, where it is known" })),
    }),
  },
  { title: "DeliveryEvent" },
);

interface EventWords {
  readonly summary: string;
  /** The name of the body's schema. */
  readonly schema: string;
  /** What becomes of an event that is not answered with 2xx. */
  readonly otherwise: string;
}

function wordsOfDelivery(type: string): EventWords {
  const summary = `A message is ${type.slice(type.indexOf(".") + 1)}`;
  return { summary, schema: "DeliveryEvent", otherwise: RETRIED };
}

function describe(type: string, words: EventWords): Json {
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
      "2XX": { description: `Received. Any other answer, or none within 15 s, ${words.otherwise}.` },
      "410": { description: "Never to be tried again." },
    },
  };
}

function header(name: string, description: string): Json {
  return { name, in: "header", required: true, description, schema: { type: "string" } };
}
