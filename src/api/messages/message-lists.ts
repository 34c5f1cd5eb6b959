/** List SMS and List Email: an account's messages, newest first. */
import Type, { type TSchema } from "typebox";
import type { MessageStore } from "../../store/store.ts";
import type { Answer } from "../answer.ts";
import { callerOf } from "../caller.ts";
import type { Call, Endpoint } from "../endpoint.ts";
import { pageSchema } from "../lists/answer-page.ts";
import { CURSOR } from "../lists/read-cursor.ts";
import { MESSAGE_CHANNELS } from "./message-channels.ts";
import { AN_ADDRESS, LIST_QUERY, type Listed, readListQuery } from "./message-query.ts";
import { toMessageResource } from "./message-resource.ts";

export function messageListEndpoints(messages: Pick<MessageStore, "list">): readonly Endpoint[] {
  return MESSAGE_CHANNELS.map(({ name, plural, tag, path, resource, ...listed }) => ({
    method: "GET",
    path,
    operation: `list${name}`,
    summary: `List ${plural}, by status, tag, recipient and time`,
    tag,
    auth: "api-key",
    query: queryOf(listed),
    responses: {
      200: {
        description:
          "Newest first, of the last 7 days. A page with fewer messages than `limit`, or none, need not be the last: the " +
          "last one has no `next`.",
        schema: pageSchema(resource, "cursor", `${name}Page`),
      },
      400: { description: "`validation failed`: a filter, `limit` or `cursor` is invalid." },
    },
    handle: (call) => listMessages(messages, listed, call),
  }));
}

function queryOf({ statuses, channel }: Listed): Readonly<Record<string, TSchema>> {
  return {
    status: Type.Optional(Type.String({ enum: [...statuses] })),
    ...LIST_QUERY,
    to: Type.Optional(Type.String({ description: channel === "sms" ? "The phone number" : AN_ADDRESS })),
    cursor: CURSOR,
  };
}

async function listMessages(
  messages: Pick<MessageStore, "list">,
  listed: Listed,
  call: Call,
): Promise<Answer> {
  const query = readListQuery(call.query, listed, call);
  const page = await messages.list({ accountId: callerOf(call).account.id, ...query });
  return {
    status: 200,
    json: JSON.stringify({ data: page.messages.map(toMessageResource), next: page.next }),
  };
}
