import { createHmac, timingSafeEqual } from "node:crypto";
import type { BounceKind } from "../../../core/email/bounce-kind.ts";
import {
  bounced,
  COMPLAINED,
  codeIn,
  DELIVERED,
  dropped,
  type Json,
  listOf,
  objectOf,
  textOf,
  type Verdict,
} from "./mail-event.ts";
import type { MailProvider } from "./mail-provider.ts";

/** Resend. Its webhooks are signed as Standard Webhooks under the names of Svix (resend.com/docs: verify webhooks). */
export const resend: MailProvider = {
  headers: () => ({}),
  needsSecret: "the signing secret of the webhook (whsec_…)",
  /** Every try is signed anew. */
  signedTime: { header: "svix-timestamp", maxOffMs: 5 * 60_000 },
  isAuthentic({ headers, body }, { secret }) {
    const [id, timestamp, given] = ["id", "timestamp", "signature"].map(
      (name) => headers.get(`svix-${name}`) ?? "",
    );
    const key = Buffer.from(secret.replace(/^whsec_/, ""), "base64");
    if (key.length === 0) return false;
    const made = createHmac("sha256", key).update(`${id}.${timestamp}.${body}`).digest();
    return (given ?? "").split(" ").some((one) => one.startsWith("v1,") && isSame(one.slice(3), made));
  },
  events(body) {
    const { type, data: given } = objectOf(body);
    const data = objectOf(given);
    const verdict = verdictOf(type, data);
    const recipients = listOf(data.to).flatMap((each) => textOf(each) ?? []);
    if (!verdict || (recipients.length > 1 && type !== ABOUT_ALL)) return [];
    const headers = listOf(data.headers).map(objectOf);
    const ownId = headers.find(({ name }) => textOf(name)?.toLowerCase() === "message-id")?.value;
    return recipients.map((recipient) => ({
      recipient: /<([^<>]+)>\s*$/.exec(recipient)?.[1] ?? recipient,
      providerMessageId: textOf(data.email_id) ?? "",
      ownId: textOf(data.message_id) ?? textOf(ownId),
      verdict,
      word: [type, objectOf(data.bounce).type ?? ""].join(" "),
    }));
  },
};

/**
 * The event of a mail that was sent to nobody. Every other is about one recipient, but lists all of the mail's: if there are
 * several, the bounce or complaint of one would suppress them all.
 */
const ABOUT_ALL = "email.failed";

function isSame(given: string, made: Buffer): boolean {
  const octets = Buffer.from(given, "base64");
  return octets.length === made.length && timingSafeEqual(octets, made);
}

const BOUNCE_KINDS: Readonly<Record<string, BounceKind>> = {
  Permanent: "hard",
  Transient: "soft",
  Undetermined: "message",
};

function verdictOf(type: unknown, data: Json): Verdict | undefined {
  switch (type) {
    case "email.delivered":
      return DELIVERED;
    case "email.bounced": {
      const bounce = objectOf(data.bounce);
      const text = textOf(bounce.message) ?? "";
      const code = codeIn(text);
      const kind = BOUNCE_KINDS[textOf(bounce.type) ?? ""] ?? "message";
      return bounced({ ...(code !== undefined && { code }), text }, kind);
    }
    case "email.complained":
      return COMPLAINED;
    case "email.failed":
      return dropped(textOf(objectOf(data.failed).reason) ?? "");
    case "email.suppressed":
      return dropped(textOf(objectOf(data.suppressed).message) ?? "", "hard_bounce");
    default:
      return undefined;
  }
}
