/** An email as responses show it, never with its body. Optional fields are absent when not used. */
import Type from "typebox";
import type { NewMessage } from "../../core/messages/accept-request.ts";
import { EMAIL_STATUSES, type EmailContent, type StoredMessage } from "../../core/messages/message.ts";
import { toIso } from "../../core/time/timestamp.ts";

const messageId = Type.String({ description: "Unique message identifier" });
const createdAt = Type.String({ format: "date-time", description: "ISO 8601 timestamp of creation" });
/** An address with its display name. */
export const mailbox = (description: string) =>
  Type.Object({ email: Type.String(), name: Type.Optional(Type.String()) }, { description });

export const AcceptedEmail = Type.Object(
  {
    message_id: messageId,
    status: Type.String({ enum: ["queued", "scheduled"] }),
    created_at: createdAt,
  },
  { title: "AcceptedEmail" },
);

export const EmailMessage = Type.Object(
  {
    message_id: messageId,
    account_id: Type.String({ description: "The caller's account identifier" }),
    from: mailbox("Sender"),
    to: Type.Array(mailbox("A recipient"), { description: "To recipients" }),
    cc: Type.Optional(Type.Array(mailbox("A recipient"), { description: "CC recipients" })),
    bcc: Type.Optional(Type.Array(mailbox("A recipient"), { description: "BCC recipients" })),
    subject: Type.String({ description: "Subject line" }),
    tags: Type.Optional(Type.Array(Type.String(), { description: "Tags attached" })),
    metadata: Type.Optional(
      Type.Object({}, { additionalProperties: true, description: "Custom metadata attached" }),
    ),
    status: Type.String({ enum: [...EMAIL_STATUSES] }),
    created_at: createdAt,
  },
  { title: "EmailMessage" },
);

/** JSON of an accepted message, concatenated: none of its values needs escaping. */
export function acceptedEmailJson(
  { id, status }: Pick<NewMessage, "id" | "status">,
  createdAt: string,
): string {
  return `{"message_id":"${id}","status":"${status}","created_at":"${createdAt}"}`;
}

export function toEmailResource(message: StoredMessage, content: EmailContent) {
  const { from, to, cc, bcc, subject, tags, metadata } = content;
  return {
    message_id: message.id,
    account_id: message.accountId,
    from,
    to,
    cc,
    bcc,
    subject,
    tags,
    metadata,
    status: message.progress.status,
    created_at: toIso(message.createdAt),
  };
}
