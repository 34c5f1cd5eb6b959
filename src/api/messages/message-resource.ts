import type { StoredMessage } from "../../core/messages/message.ts";
import { toEmailResource } from "../email/email-resource.ts";
import { smsResourceJson, toSmsResource } from "../sms/sms-resource.ts";

/** A message as Get SMS, or Get Email, shows it. */
export function toMessageResource(message: StoredMessage) {
  const { content } = message;
  return content.channel === "sms" ? toSmsResource(message, content) : toEmailResource(message, content);
}

/** The JSON of `toMessageResource`. */
export function messageJson(message: StoredMessage): string {
  const { content } = message;
  return content.channel === "sms"
    ? smsResourceJson(message, content)
    : JSON.stringify(toEmailResource(message, content));
}
