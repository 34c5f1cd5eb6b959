/** The schemas of a dry run's answer. */
import Type from "typebox";
import { FAILOVERS } from "../../core/records/accounts.ts";
import { SMS_CATEGORIES } from "../../core/sms/sms-category.ts";
import { SMS_ENCODINGS } from "../../core/sms/sms-segments.ts";
import { MAX_FORCING_NAMED } from "../../core/sms/transliterate.ts";
import { CONNECTOR_STATE, HEALTH } from "../health-resource.ts";

const verdict = Type.Object({
  check: Type.String({ description: "Name of the check", examples: ["variables", "dlt", "limits"] }),
  verdict: Type.Enum(["passed", "refused", "not_applicable"], { type: "string" }),
  details: Type.Optional(
    Type.Object(
      {},
      {
        additionalProperties: Type.String(),
        description: "If refused: reasons by field name, as in a 400",
      },
    ),
  ),
});

const route = Type.Object(
  {
    route_id: Type.String(),
    failover: Type.Enum(FAILOVERS, { type: "string" }),
    connectors: Type.Array(
      Type.Object({
        connector_id: Type.String(),
        name: Type.Optional(Type.String()),
        weight: Type.Optional(Type.Integer()),
        state: CONNECTOR_STATE,
        health: Type.Optional(HEALTH),
      }),
      { description: "In the order in which they are tried" },
    ),
  },
  { description: "Absent if no route leads to the number" },
);

export const DryRunSms = Type.Object(
  {
    dry_run: Type.Literal(true),
    would_send: Type.Boolean({ description: "No check has refused it" }),
    to: Type.String({ description: "Normalized E.164 number" }),
    from: Type.Optional(Type.String({ description: "The sender that would go out" })),
    template_id: Type.Optional(Type.String()),
    dlt_template_id: Type.Optional(Type.String()),
    dlt_entity_id: Type.Optional(Type.String()),
    category: Type.Optional(Type.Enum(SMS_CATEGORIES, { type: "string" })),
    status: Type.Enum(["queued", "scheduled"], { type: "string" }),
    deferred_until: Type.Optional(
      Type.String({
        format: "date-time",
        description: "When a promotional message may be sent to an Indian number",
      }),
    ),
    expires_at: Type.String({
      format: "date-time",
      description:
        "End of the delivery window. A message that is `deferred_until` this time or later expires",
    }),
    encoding: Type.Optional(
      Type.Enum(SMS_ENCODINGS, { type: "string", description: "With the connector that would be used now" }),
    ),
    forces_ucs2: Type.Optional(
      Type.Array(Type.String(), {
        description: `If the encoding is \`ucs2\`: the characters that make it so, ${MAX_FORCING_NAMED} at the most`,
      }),
    ),
    segments: Type.Optional(
      Type.Integer({
        description:
          "With the connector that would be used now; absent, like all fields about the text, if the provider renders it",
      }),
    ),
    units: Type.Optional(Type.Integer({ description: "Septets (gsm7) or UTF-16 units (ucs2) of the text" })),
    characters: Type.Optional(Type.Integer({ description: "Code points of the text" })),
    route: Type.Optional(route),
    checks: Type.Array(verdict),
  },
  { title: "DryRunSms" },
);

export const DryRunSmsBatch = Type.Object(
  {
    dry_run: Type.Literal(true),
    would_send: Type.Boolean({ description: "None is refused: a batch is taken whole or not at all" }),
    messages: Type.Array(DryRunSms, { description: "One per entry of `to`, in its order" }),
  },
  { title: "DryRunSmsBatch" },
);
