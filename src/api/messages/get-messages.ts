/** Get SMS and Get Email: a message and its status. */
import type { ChannelName } from "../../core/messages/message.ts";
import type { MessageStore } from "../../store/store.ts";
import type { Answer } from "../answer.ts";
import type { Call, Endpoint } from "../endpoint.ts";
import { messageNotFound } from "../errors.ts";
import { MESSAGE_CHANNELS } from "./message-channels.ts";
import { messageNamed } from "./message-id.ts";
import { messageJson } from "./message-resource.ts";

export function getEndpoints(messages: Pick<MessageStore, "find">): readonly Endpoint[] {
  return MESSAGE_CHANNELS.map(({ channel, name, one, path, tag, resource, shown }) => ({
    method: "GET",
    path: `${path}/{message_id}`,
    operation: `get${name}`,
    summary: `Read ${one} and its status`,
    tag,
    auth: "api-key",
    responses: {
      200: { description: shown, schema: resource },
      404: { description: "`message not found`: unknown, or older than 7 days." },
    },
    handle: (call) => getMessage(messages, channel, call),
  }));
}

async function getMessage(
  messages: Pick<MessageStore, "find">,
  channel: ChannelName,
  call: Call,
): Promise<Answer> {
  const message = await messages.find(messageNamed(call, channel));
  if (!message) throw messageNotFound();
  return { status: 200, json: messageJson(message) };
}
