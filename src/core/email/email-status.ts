import type { EmailStatus, Part } from "../messages/message.ts";

/**
 * The life cycle of an email; see `SMS_MOVES`. A later DSN (`delivered` → `bounced`) is the one move out of a final state, which
 * `mayMove` allows.
 */
export const EMAIL_MOVES = {
  scheduled: ["queued", "failed"],
  queued: ["sending", "failed"],
  sending: ["sent", "delivered", "bounced", "queued", "failed"],
  sent: ["delivered", "bounced", "failed"],
  delivered: ["bounced"],
  bounced: [],
  failed: [],
} as const satisfies Record<EmailStatus, readonly EmailStatus[]>;

/** What each status of an email means, for `docs/statuses.md`. */
export const EMAIL_MEANINGS: Readonly<Record<EmailStatus, string>> = {
  scheduled: "waits for its `schedule_at`",
  queued: "waits for its first attempt, or for the next one because a recipient was deferred",
  sending: "an attempt is in progress, or its answer was lost and the message is held (`on_unconfirmed`)",
  sent: "a relay has taken it for at least one recipient, and nothing is known yet of what became of it there",
  delivered: "the recipients' own mail hosts have taken it, or a DSN says so",
  bounced: "a recipient's address or mail host refused it for good; also later, after `delivered`, by a DSN",
  failed:
    "not sent to anybody: refused as a message, from a domain no longer verified, all recipients suppressed, its window ended, or canceled. With the error code `unconfirmed` it may have been sent all the same: the answer to an attempt was lost, and it is not tried again",
};

/** First match wins. */
const PRECEDENCE = ["bounced", "sent", "delivered"] as const;

/** The status of an email none of whose recipients is still to be tried. */
export function foldRecipients(recipients: readonly Part[]): EmailStatus {
  const statuses = new Set(recipients.map((recipient) => recipient.status));
  return PRECEDENCE.find((status) => statuses.has(status)) ?? "failed";
}
