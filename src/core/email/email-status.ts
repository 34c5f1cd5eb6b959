import type { EmailStatus, Part } from "../messages/message.ts";

/** The life cycle of an email. A later DSN (`delivered` → `bounced`) is the one move out of a final state. */
export const EMAIL_MOVES = {
  scheduled: ["queued", "failed"],
  queued: ["sending", "failed"],
  sending: ["sent", "delivered", "bounced", "queued", "failed"],
  sent: ["delivered", "bounced", "failed"],
  delivered: ["bounced"],
  bounced: [],
  failed: [],
} as const satisfies Record<EmailStatus, readonly EmailStatus[]>;

/** First match wins. */
const PRECEDENCE = ["bounced", "sent", "delivered"] as const;

/** The status of an email none of whose recipients is still to be tried. */
export function foldRecipients(recipients: readonly Part[]): EmailStatus {
  const statuses = new Set(recipients.map((recipient) => recipient.status));
  return PRECEDENCE.find((status) => statuses.has(status)) ?? "failed";
}
