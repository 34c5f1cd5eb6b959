import { createPublicKey, verify } from "node:crypto";
import { parseJson } from "../../../core/body/parse-json.ts";
import { HOUR_MS } from "../../../core/time/durations.ts";
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
  UNSUBSCRIBED,
  type Verdict,
} from "./mail-event.ts";
import type { MailProvider } from "./mail-provider.ts";

const TIMESTAMP = "x-twilio-email-event-webhook-timestamp";

/**
 * SendGrid. Its signed event webhook is ECDSA over timestamp and body (Event Webhook Security Features); unique
 * arguments of the X-SMTPAPI header come back as fields of every event.
 */
export const sendgrid: MailProvider = {
  headers: (messageId, given) => ({ "X-SMTPAPI": smtpApi(messageId, given("x-smtpapi")) }),
  needsSecret: "the verification key of the signed event webhook",
  /** SendGrid tries for a day, with the timestamp of the first try. */
  signedTime: { header: TIMESTAMP, maxOffMs: 25 * HOUR_MS },
  isAuthentic({ headers, body }, { secret }) {
    const timestamp = headers.get(TIMESTAMP) ?? "";
    const signature = headers.get("x-twilio-email-event-webhook-signature") ?? "";
    return isSigned(secret, timestamp + body, signature);
  },
  events: (body) =>
    listOf(body).flatMap((each) => {
      const event = objectOf(each);
      const recipient = textOf(event.email);
      const verdict = verdictOf(event);
      if (!verdict || recipient === undefined) return [];
      return [
        {
          recipient,
          // The part before the first dot is the id in the SMTP reply. The rest names SendGrid's own filter.
          providerMessageId: (textOf(event.sg_message_id) ?? "").split(".", 1)[0] ?? "",
          ownId: textOf(event.postrider) ?? textOf(event["smtp-id"]),
          verdict,
          word: [event.event, event.type ?? ""].join(" "),
        },
      ];
    }),
};

/**
 * The caller's own options (categories, groups) with our id among the arguments, in ASCII, and with blanks to fold at. The options
 * are left out if they are not JSON, or if a part of them is too long for a line.
 */
function smtpApi(messageId: string, given: string | undefined): string {
  const options = objectOf(parseJson(given ?? ""));
  const ours = { postrider: messageId };
  const all = { ...options, unique_args: { ...objectOf(options.unique_args), ...ours } };
  const text = JSON.stringify(all, null, 1)
    .replaceAll(/\n */g, " ")
    .replaceAll(/[\u0080-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
  const isFoldable = given !== undefined && !/\S{900}/.test(text);
  return isFoldable ? text : JSON.stringify({ unique_args: ours });
}

function isSigned(key: string, text: string, signature: string): boolean {
  try {
    const publicKey = createPublicKey({ key: Buffer.from(key, "base64"), format: "der", type: "spki" });
    return verify("sha256", Buffer.from(text, "utf8"), publicKey, Buffer.from(signature, "base64"));
  } catch {
    // The key or the signature cannot be read.
    return false;
  }
}

const DROPPED: Readonly<Record<string, Verdict["suppress"]>> = {
  "Bounced Address": "hard_bounce",
  Invalid: "hard_bounce",
  "Spam Reporting Address": "complaint",
  "Unsubscribed Address": "unsubscribe",
};

function verdictOf(event: Json): Verdict | undefined {
  const reason = textOf(event.reason) ?? "";
  switch (event.event) {
    case "delivered":
      return DELIVERED;
    case "bounce": {
      const code = codeIn(textOf(event.status), reason);
      // `blocked`: the message was refused, not the address.
      const kind = event.type === "blocked" ? "message" : "hard";
      return bounced({ ...(code !== undefined && { code }), text: reason }, kind);
    }
    case "dropped":
      return dropped(reason, Object.hasOwn(DROPPED, reason) ? DROPPED[reason] : undefined);
    case "spamreport":
      return COMPLAINED;
    case "unsubscribe":
    case "group_unsubscribe":
      return UNSUBSCRIBED;
    default:
      return undefined;
  }
}
