import Type, { type TSchema } from "typebox";
import {
  CHANNELS,
  type ChannelName,
  TIMELINE_KINDS,
  type TimelineEntry,
} from "../../../core/messages/message.ts";
import { present } from "../../../core/present.ts";
import { toIso } from "../../../core/time/timestamp.ts";
import { isUuid, uuidTime } from "../../../core/uuid.ts";
import type { Endpoint } from "../../endpoint.ts";
import { messageNotFound } from "../../errors.ts";
import { entryError } from "../../messages/message-events.ts";
import type { AdminDeps } from "../admin-deps.ts";
import { accountOfQuery, accountOfQueryIfAny } from "../draft.ts";
import { adminOnly, adminPath } from "../record-plan.ts";
import { CHANNEL_FILTER, readChannel } from "./channel-filter.ts";

/** A message's history, attempts and receipts included, for operators. */
export function timelineEndpoints({ store }: AdminDeps): readonly Endpoint[] {
  const answer = async (written: string, { accountId, channel }: Whose) => {
    const id = written.toLowerCase();
    const timeline = await store.messages.timeline({ id, ...present({ accountId, channel }) });
    if (!timeline) throw messageNotFound();
    return Response.json({ created_at: toIso(uuidTime(id) ?? 0), data: timeline.map(toResource) });
  };
  return [
    {
      ...shared,
      path: adminPath("messages/{id}/timeline"),
      operation: "findMessageTimeline",
      summary: "Show everything that happened to a message of any account and channel",
      query: {
        account_id: Type.Optional(Type.String({ description: "Only if it belongs to this account" })),
        channel: CHANNEL_FILTER,
      } as Readonly<Record<string, TSchema>>,
      responses: { 200: inOrder, 404: { description: "There is no such message" } },
      async handle({ query, params: { id = "" } }) {
        const channel = readChannel(query);
        if (!isUuid(id)) throw messageNotFound();
        const account = await accountOfQueryIfAny(store.records, query);
        return answer(id, { accountId: account?.id, channel });
      },
    },
    {
      ...shared,
      path: adminPath("messages/{channel}/{id}/timeline"),
      operation: "getMessageTimeline",
      summary: "Show everything that happened to a message of an account",
      query: { account_id: Type.String() },
      responses: { 200: inOrder, 404: { description: "The account has no such message" } },
      async handle({ query, params: { id = "", ...params } }) {
        const channel = CHANNELS.find((each) => each === params.channel);
        if (!channel || !isUuid(id)) throw messageNotFound();
        const account = await accountOfQuery(store.records, query);
        return answer(id, { accountId: account.id, channel });
      },
    },
  ];
}

/** Only a message of this account and channel; `undefined`: of any. */
interface Whose {
  readonly accountId: string | undefined;
  readonly channel: ChannelName | undefined;
}

const shared = { ...adminOnly("messages"), method: "GET" } as const;

const shown = Type.Object({
  position: Type.Integer(),
  at: Type.String({ format: "date-time" }),
  kind: Type.Enum(TIMELINE_KINDS),
  status: Type.String({ description: "After the entry; where it names a recipient, that recipient's" }),
  sequence: Type.Optional(Type.Integer({ description: "Number of the public event" })),
  event_type: Type.Optional(Type.String()),
  recipient: Type.Optional(Type.String()),
  error: entryError,
  detail: Type.Optional(Type.Object({}, { additionalProperties: true })),
});

const created = Type.String({ format: "date-time", description: "When the message was accepted" });

const inOrder = {
  description: "In order",
  schema: Type.Object({ created_at: created, data: Type.Array(shown) }),
};

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
