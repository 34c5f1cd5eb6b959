import Type, { type TSchema } from "typebox";
import { createErrors } from "../../../core/body/field-errors.ts";
import { CHANNELS, type StoredMessage } from "../../../core/messages/message.ts";
import type { MessageQuery } from "../../../store/store.ts";
import type { Endpoint } from "../../endpoint.ts";
import { messageNotFound } from "../../errors.ts";
import { pageSchema } from "../../lists/answer-page.ts";
import { CURSOR } from "../../lists/read-cursor.ts";
import { MESSAGE_CHANNELS } from "../../messages/message-channels.ts";
import { LIST_QUERY, readListQuery } from "../../messages/message-query.ts";
import { toMessageResource } from "../../messages/message-resource.ts";
import type { AdminDeps } from "../admin-deps.ts";
import { accountOfQuery } from "../draft.ts";
import { adminOnly, adminPath } from "../record-plan.ts";
import { readChannel } from "./channel-filter.ts";

/** Any account's messages, for operators. */
export function messageEndpoints(deps: Pick<AdminDeps, "store">): readonly Endpoint[] {
  return [listEndpoint(deps), findEndpoint(deps)];
}

function listEndpoint({ store }: Pick<AdminDeps, "store">): Endpoint {
  return {
    ...shared,
    path: adminPath("messages"),
    operation: "listMessages",
    summary: "List an account's messages of a channel, as List SMS and List Email do",
    query: {
      account_id: Type.String(),
      channel: Type.Enum(CHANNELS, { type: "string" }),
      status: Type.Optional(Type.String({ description: "Only in this status" })),
      ...LIST_QUERY,
      after: CURSOR,
    } as Readonly<Record<string, TSchema>>,
    responses: {
      200: {
        description: "Newest first. A page may be short, or empty: the last one has no `next`",
        schema: pageSchema(shown, "after"),
      },
    },
    async handle({ query, now }) {
      const filters = readFilters(query, now);
      const { id: accountId } = await accountOfQuery(store.records, query);
      const page = await store.messages.list({ accountId, ...filters });
      return Response.json({ data: page.messages.map(toResource), next: page.next });
    },
  };
}

function readFilters(query: URLSearchParams, now: number): Omit<MessageQuery, "accountId"> {
  const channel = readChannel(query);
  const listed = MESSAGE_CHANNELS.find((each) => each.channel === channel);
  if (listed) return readListQuery(query, { ...listed, cursor: "after" }, { now });
  const errors = createErrors();
  errors.add("channel", "required");
  // Without the channel nobody knows what these have to be.
  const others = new URLSearchParams(query);
  for (const name of ["status", "to"]) others.delete(name);
  return readListQuery(others, { ...MESSAGE_CHANNELS[0], cursor: "after" }, { now, errors });
}

function findEndpoint({ store }: Pick<AdminDeps, "store">): Endpoint {
  return {
    ...shared,
    path: adminPath("messages/{id}"),
    operation: "findMessage",
    summary: "Show a message of any account and channel",
    responses: {
      200: { description: "The message", schema: shown },
      404: { description: "There is no such message" },
    },
    async handle({ params }) {
      const message = await store.messages.find({ id: (params.id ?? "").toLowerCase() });
      if (!message) throw messageNotFound();
      return Response.json(toResource(message));
    },
  };
}

function toResource(message: StoredMessage) {
  const { channel, error } = message.progress;
  return { channel, ...toMessageResource(message), error };
}

const shared = { ...adminOnly("messages"), method: "GET" } as const;

const shown = Type.Object(
  {
    channel: Type.Enum(CHANNELS, { type: "string" }),
    message_id: Type.String({ format: "uuid" }),
    account_id: Type.String({ format: "uuid" }),
    status: Type.String(),
    created_at: Type.String({ format: "date-time" }),
    error: Type.Optional(
      Type.Object(
        { code: Type.String(), message: Type.String() },
        { description: "Why it is `failed`, `undelivered`, `expired` or `bounced`" },
      ),
    ),
  },
  { additionalProperties: true, description: "The other fields are those of Get SMS, or Get Email" },
);
