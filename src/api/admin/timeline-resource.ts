import Type from "typebox";
import { TIMELINE_KINDS, type TimelineEntry } from "../../core/message.ts";
import { toIso } from "../../core/timestamp.ts";
import { isUuid } from "../../core/uuid.ts";
import type { Endpoint } from "../endpoint.ts";
import { messageNotFound } from "../errors.ts";
import type { AdminDeps } from "./admin-deps.ts";
import { accountOfQuery } from "./draft.ts";
import { adminPath } from "./record-plan.ts";

/** A message's history, attempts and receipts included, for operators. */
export function timelineEndpoints({ store }: AdminDeps): readonly Endpoint[] {
  return [
    {
      method: "GET",
      path: adminPath("messages/{channel}/{id}/timeline"),
      operation: "getMessageTimeline",
      summary: "Show everything that happened to a message",
      tag: "Admin: messages",
      auth: "admin",
      query: { account_id: Type.String() },
      responses: {
        200: { description: "In order", schema: Type.Object({ data: Type.Array(shown) }) },
        404: { description: "The account has no such message" },
      },
      async handle({ query, params }) {
        const { channel, id = "" } = params;
        if ((channel !== "sms" && channel !== "email") || !isUuid(id)) throw messageNotFound();
        const account = await accountOfQuery(store.records, query);
        const timeline = await store.intake.timeline({
          accountId: account.id,
          channel,
          id: id.toLowerCase(),
        });
        if (!timeline) throw messageNotFound();
        return Response.json({ data: timeline.map(toResource) });
      },
    },
  ];
}

const shown = Type.Object({
  position: Type.Integer(),
  at: Type.String({ format: "date-time" }),
  kind: Type.Enum([...TIMELINE_KINDS]),
  status: Type.String({ description: "After the entry; where it names a recipient, that recipient's" }),
  sequence: Type.Optional(Type.Integer({ description: "Number of the public event" })),
  event_type: Type.Optional(Type.String()),
  recipient: Type.Optional(Type.String()),
  error: Type.Optional(Type.Object({ code: Type.String(), message: Type.String() })),
  detail: Type.Optional(Type.Object({}, { additionalProperties: true })),
});

function toResource(entry: TimelineEntry) {
  return {
    position: entry.position,
    at: toIso(entry.at),
    kind: entry.kind,
    status: entry.status,
    sequence: entry.sequence,
    event_type: entry.eventType,
    recipient: entry.recipient,
    error: entry.error,
    detail: entry.detail,
  };
}
