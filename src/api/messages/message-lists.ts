/** List SMS and List Email: an account's messages, newest first. */
import Type, { type TSchema } from "typebox";
import type { MessageStore } from "../../store/store.ts";
import type { Answer } from "../answer.ts";
import { callerOf } from "../caller.ts";
import type { Call, Endpoint } from "../endpoint.ts";
import { pageSchema } from "../lists/answer-page.ts";
import { countSchema } from "../lists/read-count.ts";
import { MESSAGE_CHANNELS } from "./message-channels.ts";
import { LIST_LIMIT, type Listed, readListQuery } from "./message-query.ts";
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
  const time = (description: string) => Type.Optional(Type.String({ format: "date-time", description }));
  return {
    status: Type.Optional(Type.String({ enum: [...statuses] })),
    tag: Type.Optional(Type.String({ description: "A tag of the message, in the same case" })),
    to: Type.Optional(
      Type.String({
        description: channel === "sms" ? "The phone number" : AN_ADDRESS,
      }),
    ),
    created_after: time("Created at this time or later"),
    created_before: time("Created before this time"),
    limit: countSchema(LIST_LIMIT),
    cursor: Type.Optional(Type.String({ description: "`next` of the page before" })),
  };
}

const AN_ADDRESS =
  "An address among to, cc and bcc, in any case; an international domain in either spelling (`bücher.example` is " +
  "`xn--bcher-kva.example`)";

async function listMessages(
  messages: Pick<MessageStore, "list">,
  listed: Listed,
  call: Call,
): Promise<Answer> {
  const query = readListQuery(call.query, listed, call.now);
  const page = await messages.list({ accountId: callerOf(call).account.id, ...query });
  return {
    status: 200,
    json: JSON.stringify({ data: page.messages.map(toMessageResource), next: page.next }),
  };
}
