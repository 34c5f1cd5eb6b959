import Type from "typebox";
import { CHANNELS, type ChannelName } from "../../../core/messages/message.ts";
import { validationFailed } from "../../errors.ts";

/** The query parameter `channel`: only messages of this one. */
export const CHANNEL_FILTER = Type.Optional(
  Type.Enum(CHANNELS, { type: "string", description: "Only of this channel" }),
);

/** Reads it; `undefined` if the query has none. Refuses other words. */
export function readChannel(query: URLSearchParams): ChannelName | undefined {
  const given = query.get("channel");
  const channel = CHANNELS.find((each) => each === given);
  if (given !== null && !channel)
    throw validationFailed({ channel: `must be one of ${CHANNELS.join(", ")}` });
  return channel;
}
