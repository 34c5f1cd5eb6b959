import Type, { type TSchema } from "typebox";
import { RECEIVED } from "../../core/webhooks/received-event.ts";
import { TEST_EVENT } from "../../core/webhooks/webhook-event.ts";
import { DeliveryEvent, EVENT_TYPES, ReceivedEvent } from "../events/event-schemas.ts";
import { type Json, toReference } from "./to-reference.ts";

/** Describes what webhooks deliver (Standard Webhooks 1.0.0). Adds the schemas of their bodies to `schemas`. */
export function webhooks(schemas: Map<string, Json>): Json {
  const events = [
    ...EVENT_TYPES.map((type) => [type, wordsOfDelivery(type)] as const),
    [RECEIVED, RECEIVED_WORDS] as const,
    [TEST_EVENT, TEST_WORDS] as const,
  ];
  return Object.fromEntries(events.map(([type, words]) => [type, { post: describe(type, words, schemas) }]));
}

const RETRIED = "is tried again";
const RECEIVED_WORDS = {
  summary: "An inbound SMS was received",
  schema: ReceivedEvent,
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
  schema: TestEvent,
  otherwise: "is only shown to the operator",
};

interface EventWords {
  readonly summary: string;
  /** Of the body. */
  readonly schema: TSchema;
  /** What becomes of an event that is not answered with 2xx. */
  readonly otherwise: string;
}

function wordsOfDelivery(type: string): EventWords {
  const summary = `A message is ${type.slice(type.indexOf(".") + 1)}`;
  return { summary, schema: DeliveryEvent, otherwise: RETRIED };
}

function describe(type: string, words: EventWords, schemas: Map<string, Json>): Json {
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
      content: { "application/json": { schema: toReference(words.schema, schemas) } },
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
