import type { OutgoingEmail } from "../../channels/channel.ts";
import type { Prepared } from "./to-outgoing.ts";

/** An offer to unsubscribe, for one recipient of a message that was accepted with `unsubscribe`. */
export interface UnsubscribeOffer extends Pick<OutgoingEmail, "accountId" | "messageId" | "returnPathHost"> {
  readonly part: number;
  /** Lower case. */
  readonly email: string;
}

/** The header fields of an offer (RFC 2369, RFC 8058); none if there is no address to offer. */
export type UnsubscribeHeaders = (offer: UnsubscribeOffer) => Promise<Readonly<Record<string, string>>>;

/** Adds the fields to an email that asked for them. It has a job for each recipient, so that each gets a link of their own. */
export async function offerUnsubscribe(outgoing: Prepared, headersOf: UnsubscribeHeaders): Promise<Prepared> {
  if (outgoing.kind !== "ready" || outgoing.message.channel !== "email") return outgoing;
  const { message } = outgoing;
  const [part, ...others] = message.only ?? [];
  if (!message.content.unsubscribe || part === undefined || others.length > 0) return outgoing;
  const { accountId, messageId, returnPathHost, content } = message;
  const headers = await headersOf({
    accountId,
    messageId,
    part,
    email: message.parts[part]?.address?.toLowerCase() ?? "",
    ...(returnPathHost !== undefined && { returnPathHost }),
  });
  const withHeaders = { ...content, headers: { ...content.headers, ...headers } };
  return { ...outgoing, message: { ...message, content: withHeaders } };
}
