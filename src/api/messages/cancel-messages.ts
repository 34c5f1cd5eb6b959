/** Cancel SMS and Cancel Email: for what is still scheduled or queued. */

import type { ChannelName } from "../../core/messages/message.ts";
import { present } from "../../core/present.ts";
import type { MessageStore } from "../../store/store.ts";
import type { Answered } from "../answer.ts";
import type { Call, Endpoint } from "../endpoint.ts";
import { messageNotFound, tooLateToCancel } from "../errors.ts";
import { idempotencyOf, replayed } from "../idempotency.ts";
import { MESSAGE_CHANNELS } from "./message-channels.ts";
import { messageNamed } from "./message-id.ts";
import { messageJson } from "./message-resource.ts";

export interface CancelDeps {
  readonly messages: Pick<MessageStore, "cancel" | "find">;
}

export function cancelEndpoints(deps: CancelDeps): readonly Endpoint[] {
  return MESSAGE_CHANNELS.map(({ channel, name, path, tag, resource }) => ({
    method: "POST",
    path: `${path}/{message_id}/cancel`,
    operation: `cancel${name}`,
    summary: "Cancel a message that is still scheduled or queued",
    tag,
    auth: "api-key",
    idempotent: true,
    responses: {
      200: {
        description:
          "The message, now `failed`, with the error code `canceled` in its events. It reaches nobody. A message that was " +
          "canceled before gets the same answer.",
        schema: resource,
      },
      404: { description: "`message not found`: unknown, or older than 7 days." },
      409: {
        description:
          "`message can no longer be canceled`: it is final, is being sent, or may have been sent in part.",
      },
    },
    handle: (call) => cancelMessage(deps, channel, call),
  }));
}

/** The answer of a repeat is read once more, since a canceled message stays as it is. */
async function cancelMessage({ messages }: CancelDeps, channel: ChannelName, call: Call): Promise<Answered> {
  const idempotency = idempotencyOf(call);
  const named = messageNamed(call, channel);
  const result = await messages.cancel({ ...named, now: call.now, ...present({ idempotency }) });
  if (result === "too_late") throw tooLateToCancel();
  const message = result === "not_found" ? undefined : await messages.find(named);
  if (!message) throw messageNotFound();
  const json = messageJson(message);
  if (result === "canceled" || !idempotency) return { status: 200, json };
  const { bodyDigest } = idempotency;
  return replayed({ status: 200, body: json, bodyDigest }, idempotency, call);
}
