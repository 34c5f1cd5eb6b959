import type { BounceKind } from "../../../core/email/bounce-kind.ts";
import {
  bounced,
  COMPLAINED,
  codeIn,
  DELIVERED,
  type Json,
  objectOf,
  textOf,
  UNSUBSCRIBED,
  type Verdict,
} from "./mail-event.ts";
import type { MailProvider } from "./mail-provider.ts";

/**
 * Postmark. Its webhooks have no signature: the token in the path is the only proof. They give back metadata that was sent
 * in a header of the mail (postmarkapp.com/developer: webhooks, SMTP custom headers).
 */
export const postmark: MailProvider = {
  headers: (messageId) => ({ "X-PM-Metadata-postrider": messageId }),
  isAuthentic: () => true,
  events(body) {
    const event = objectOf(body);
    const type = textOf(event.RecordType) ?? "";
    const verdict = verdictOf(type, event);
    const recipient = textOf(event.Email) ?? textOf(event.Recipient);
    if (!verdict || recipient === undefined) return [];
    return [
      {
        recipient,
        providerMessageId: textOf(event.MessageID) ?? "",
        ownId: textOf(objectOf(event.Metadata).postrider),
        verdict,
        word: [type, textOf(event.Type) ?? ""].join(" "),
      },
    ];
  },
};

function verdictOf(type: string, event: Json): Verdict | undefined {
  if (type === "Delivery") return DELIVERED;
  if (type === "SpamComplaint") return COMPLAINED;
  if (type === "SubscriptionChange") return event.SuppressSending === true ? listingOf(event) : undefined;
  return type === "Bounce" ? bounceOf(event) : undefined;
}

/** Postmark has put the address on its own list: at its owner's wish or by hand, but also after a bounce or a complaint. */
function listingOf({ SuppressionReason: reason }: Json): Verdict {
  if (reason === "HardBounce") return bounced({ text: "on the provider's list after a hard bounce" }, "hard");
  return reason === "SpamComplaint" ? COMPLAINED : UNSUBSCRIBED;
}

/** By `Type`, as the Bounce API lists them. Types that are left out are no bounces: auto-replies, delays, notices. */
const KINDS: Readonly<Record<string, BounceKind>> = {
  HardBounce: "hard",
  BadEmailAddress: "hard",
  ManuallyDeactivated: "hard",
  SoftBounce: "soft",
  DnsError: "soft",
  Blocked: "message",
  SpamNotification: "message",
  DMARCPolicy: "message",
  Unknown: "message",
};

function bounceOf(event: Json): Verdict | undefined {
  const type = textOf(event.Type) ?? "";
  if (type === "SpamComplaint") return COMPLAINED;
  if (type === "Unsubscribe") return UNSUBSCRIBED;
  const kind = Object.hasOwn(KINDS, type) ? KINDS[type] : undefined;
  if (!kind) return undefined;
  const [details, description] = [textOf(event.Details), textOf(event.Description)];
  const code = codeIn(details, description);
  return bounced({ ...(code !== undefined && { code }), text: details || description || type }, kind);
}
