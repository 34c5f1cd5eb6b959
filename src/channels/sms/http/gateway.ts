/**
 * The description of an HTTP gateway: what is sent, what the answer means, and how its callbacks are authenticated and
 * read. The ready-made providers and `provider: "custom"` consist of nothing else.
 */
import Type, { type Static } from "typebox";

const text = (description: string) => Type.String({ minLength: 1, maxLength: 4096, description });
const template = (description: string) => text(`${description}; may hold placeholders`);
const templates = (description: string) =>
  Type.Optional(Type.Record(Type.String(), Type.String({ maxLength: 4096 }), { description }));
const dltCodes = Type.Optional(
  Type.Boolean({ description: "Error codes are those of Indian DLT scrubbing" }),
);
const oneOf = <const Word extends string>(words: readonly Word[], description: string) =>
  Type.Enum(words, { type: "string", description });

/** Where a value stands in an answer or a callback. */
const sourceSchema = Type.Object({
  json: Type.Optional(
    Type.String({
      maxLength: 255,
      description: "JSON Pointer; `*` stands for every entry. Form and query fields are members too",
    }),
  ),
  header: Type.Optional(Type.String({ maxLength: 255, description: "Name of a header, instead" })),
  match: Type.Optional(
    Type.String({
      maxLength: 255,
      description:
        "Regular expression (RE2: no look-around, no back-references) over that value, or, if neither is given, over the text: its first group",
    }),
  ),
});

export type Source = Static<typeof sourceSchema>;

/**
 * What an answer says of a message. `throttled` and `barred` do not count as an attempt. `barred` is about the connector and
 * not the message: a wrong password, no credit.
 */
const ANSWER_WORDS = ["sent", "rejected", "deferred", "throttled", "barred", "unconfirmed"] as const;
export type AnswerWord = (typeof ANSWER_WORDS)[number];

const RECEIPT_WORDS = ["sent", "delivered", "undelivered", "expired", "failed"] as const;
const receiptWord = oneOf(RECEIPT_WORDS, "Our word for it");
export type ReceiptWord = (typeof RECEIPT_WORDS)[number];

const conditionFields = {
  from: Type.Optional(sourceSchema),
  is: Type.Optional(Type.Array(Type.String(), { maxItems: 200, description: "Absent: anything at all" })),
};

const rowSchema = Type.Object(
  {
    http: Type.Optional(
      Type.String({ pattern: "^[1-5](\\d\\d|xx)$", examples: ["202", "4xx"], description: "`202` or `4xx`" }),
    ),
    ...conditionFields,
    and: Type.Optional(Type.Object(conditionFields, { description: "A second value that must fit too" })),
    outcome: oneOf(ANSWER_WORDS, "What that says of the message"),
  },
  { description: "Holds if the status and the values all fit" },
);

const sendSchema = Type.Object({
  method: Type.Optional(oneOf(["GET", "POST", "PUT"], "POST if absent")),
  url: template("http:// or https://"),
  auth: Type.Optional(
    Type.Object({
      kind: oneOf(["basic", "bearer", "header", "query"], "How the request proves who sends it"),
      username: Type.Optional(template("For basic")),
      name: Type.Optional(text("Of the header or the query parameter")),
      value: template("Password, token or key: {{secret.password}}"),
    }),
  ),
  headers: templates("Further headers"),
  query: templates("Query parameters; one whose placeholder has no value is left out, here and below"),
  form: templates("Fields of an application/x-www-form-urlencoded body"),
  json: Type.Optional(Type.Unknown({ description: "The JSON body, with placeholders in its strings" })),
  required: Type.Optional(
    Type.Array(Type.String(), { description: "Placeholders without which a message cannot be sent" }),
  ),
});

const answerSchema = Type.Object({
  id: Type.Optional(sourceSchema),
  own_id: Type.Optional(Type.Boolean({ description: "Callbacks name the message by {{message_id}}" })),
  rows: Type.Optional(
    Type.Array(rowSchema, {
      maxItems: 100,
      description: "The first that holds counts; then the HTTP status",
    }),
  ),
  error_code: Type.Optional(sourceSchema),
  error_text: Type.Optional(sourceSchema),
  dlt_codes: dltCodes,
});

const verifySchema = Type.Object({
  scheme: oneOf(
    ["basic", "header", "hmac", "twilio", "plivo", "vonage"],
    "How a callback proves, beyond the token in its path, who sends it",
  ),
  secret: text("Name of the secret it is proven with: password, value or key"),
  username: Type.Optional(text("For basic")),
  header: Type.Optional(text("For header and hmac")),
  algorithm: Type.Optional(oneOf(["md5", "sha1", "sha256", "sha512"], "For hmac, and vonage")),
  encoding: Type.Optional(oneOf(["hex", "base64"], "For hmac")),
  prefix: Type.Optional(Type.String({ description: "For hmac: stands before the signature, like sha256=" })),
});

const callbackAnswer = Type.Optional(
  Type.Object({
    status: Type.Integer({ minimum: 200, maximum: 299 }),
    body: Type.String(),
    content_type: Type.Optional(text("text/plain if absent")),
  }),
);

const inboundSchema = Type.Object(
  {
    when: sourceSchema,
    is: Type.Optional(
      Type.Array(Type.String(), { description: "Values of `when` that say so; absent: any at all" }),
    ),
    id: sourceSchema,
    from: sourceSchema,
    to: sourceSchema,
    text: sourceSchema,
    segments: Type.Optional(sourceSchema),
    part: Type.Optional(
      Type.Object(
        { reference: sourceSchema, total: sourceSchema, number: sourceSchema },
        { description: "For a provider that hands on long messages in parts" },
      ),
    ),
    answer: callbackAnswer,
  },
  {
    description:
      "For callbacks that also bring what handsets write: how to tell these apart, and how to read them",
  },
);

const callbackSchema = Type.Object({
  verify: Type.Optional(verifySchema),
  json_field: Type.Optional(text("The form field that holds the reports as JSON")),
  reports: Type.Optional(
    Type.String({ description: "JSON Pointer to a list of reports; absent: the whole, or each entry of it" }),
  ),
  id: sourceSchema,
  to: Type.Optional(
    Type.Array(sourceSchema, { description: "The recipient's number: the first of these that is there" }),
  ),
  status: Type.Array(sourceSchema, {
    minItems: 1,
    description: "The first whose value is in `statuses` counts",
  }),
  statuses: Type.Record(Type.String(), receiptWord, {
    description: "Our word for each of the provider's, whatever its case; any other word is `sent`",
  }),
  error_code: Type.Optional(sourceSchema),
  error_text: Type.Optional(sourceSchema),
  error_statuses: Type.Optional(
    Type.Record(Type.String(), receiptWord, {
      description: "By error code; counts more than the status if that is a failure",
    }),
  ),
  dlt_codes: dltCodes,
  answer: callbackAnswer,
  inbound: Type.Optional(inboundSchema),
});

export const gatewaySchema = Type.Object(
  {
    send: sendSchema,
    answer: answerSchema,
    callback: Type.Optional(callbackSchema),
    renders_template: Type.Optional(
      Type.Boolean({ description: "The provider makes the text from its template; none is needed here" }),
    ),
    check: Type.Optional(
      Type.Object({ url: template("GET, with the same auth; any 2xx is good. Must be harmless") }),
    ),
  },
  { description: "The whole description, for provider custom" },
);

export type Gateway = Static<typeof gatewaySchema>;
export type SendDescription = Gateway["send"];
export type AnswerDescription = Gateway["answer"];
export type AnswerRow = NonNullable<AnswerDescription["rows"]>[number];
export type CallbackDescription = NonNullable<Gateway["callback"]>;
export type InboundDescription = NonNullable<CallbackDescription["inbound"]>;
export type VerifyDescription = NonNullable<CallbackDescription["verify"]>;
