import type { ChannelName } from "../../core/messages/message.ts";
import { RETENTION_MS } from "../../core/time/durations.ts";
import { uuidTime } from "../../core/uuid.ts";
import { callerOf } from "../caller.ts";
import type { Call } from "../endpoint.ts";
import { messageNotFound } from "../errors.ts";

/** The caller's message that the path names by `{message_id}`. Refuses an id that is malformed, or seven days old or older. */
export function messageNamed(call: Call, channel: ChannelName) {
  const { message_id: text = "" } = call.params;
  const createdAt = uuidTime(text);
  if (createdAt === undefined || createdAt < oldestShownAt(call.now)) throw messageNotFound();
  return { accountId: callerOf(call).account.id, channel, id: text.toLowerCase() };
}

/** Unix milliseconds: messages that were created earlier are no longer shown. */
export function oldestShownAt(now: number): number {
  return now - RETENTION_MS + 1;
}
