import type { OutgoingEmail } from "../../channel.ts";
import { type MailProviderName, providerHeaders } from "./read-mail-callback.ts";

/** The email with the header fields that make the provider give our message id back, in place of fields of the same name. */
export function tagMail(message: OutgoingEmail, provider: MailProviderName | undefined): OutgoingEmail {
  const given = Object.entries(message.content.headers ?? {});
  const givenValue = (lowerName: string) => given.find(([name]) => name.toLowerCase() === lowerName)?.[1];
  const tags = providerHeaders(provider, message.messageId, givenValue);
  const names = Object.keys(tags).map((name) => name.toLowerCase());
  if (names.length === 0) return message;
  const others = Object.fromEntries(given.filter(([name]) => !names.includes(name.toLowerCase())));
  return { ...message, content: { ...message.content, headers: { ...others, ...tags } } };
}
