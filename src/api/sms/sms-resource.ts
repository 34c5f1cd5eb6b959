/** An SMS as responses show it. Optional fields are absent when not used. */
import Type from "typebox";
import type { NewMessage } from "../../core/messages/accept-request.ts";
import { SMS_STATUSES, type SmsContent, type StoredMessage } from "../../core/messages/message.ts";
import { jsonWithVariables } from "../../core/sms/json-with-variables.ts";
import { sentDltIds } from "../../core/sms/sent-dlt-ids.ts";
import { sentFrom } from "../../core/sms/sent-from.ts";
import { toIso } from "../../core/time/timestamp.ts";

const messageId = Type.String({ description: "Unique message identifier" });
const createdAt = Type.String({ format: "date-time", description: "ISO 8601 timestamp of creation" });

export const AcceptedSms = Type.Object(
  {
    message_id: messageId,
    status: Type.String({ enum: ["queued", "scheduled"] }),
    to: Type.String({ description: "Normalized E.164 number", examples: ["+919876543210"] }),
    created_at: createdAt,
  },
  { title: "AcceptedSms" },
);

export const AcceptedSmsBatch = Type.Object(
  { messages: Type.Array(AcceptedSms, { description: "One per entry of `to`, in its order" }) },
  { title: "AcceptedSmsBatch" },
);

export const SmsMessage = Type.Object(
  {
    message_id: messageId,
    account_id: Type.String({ description: "The caller's account identifier" }),
    to: Type.String({ description: "Recipient, E.164 format" }),
    from: Type.Optional(Type.String({ description: "Sender ID used" })),
    template_id: Type.Optional(Type.String({ description: "Account template id, if used" })),
    dlt_template_id: Type.Optional(Type.String({ description: "DLT template id, if used" })),
    dlt_entity_id: Type.Optional(Type.String({ description: "DLT entity id, if used" })),
    variables: Type.Optional(
      Type.Object({}, { additionalProperties: true, description: "Template variables used" }),
    ),
    callback_url: Type.Optional(Type.String({ description: "Delivery webhook URL, if set" })),
    tags: Type.Optional(Type.Array(Type.String(), { description: "Tags attached" })),
    metadata: Type.Optional(
      Type.Object({}, { additionalProperties: true, description: "Custom key-value pairs attached" }),
    ),
    status: Type.String({ enum: [...SMS_STATUSES] }),
    created_at: createdAt,
  },
  { title: "SmsMessage" },
);

/** The JSON of one accepted message. Concatenated, since none of its values needs escaping. */
export function acceptedSmsJson(
  { id, status, recipient }: Pick<NewMessage, "id" | "status" | "recipient">,
  createdAt: string,
): string {
  return `{"message_id":"${id}","status":"${status}","to":"${recipient}","created_at":"${createdAt}"}`;
}

/** The same text as `JSON.stringify(toSmsResource(…))`, made faster: see `jsonWithVariables`. */
export function smsResourceJson(message: StoredMessage, content: SmsContent): string {
  return jsonWithVariables(
    fieldsBeforeVariables(message, content),
    content.variables,
    fieldsAfterVariables(message, content),
  );
}

export function toSmsResource(message: StoredMessage, content: SmsContent) {
  const { variables } = content;
  return { ...fieldsBeforeVariables(message, content), variables, ...fieldsAfterVariables(message, content) };
}

function fieldsBeforeVariables(message: StoredMessage, content: SmsContent) {
  const { dltTemplateId, dltEntityId } = sentDltIds(content);
  return {
    message_id: message.id,
    account_id: message.accountId,
    to: message.recipient,
    from: sentFrom(content),
    template_id: content.templateId,
    dlt_template_id: dltTemplateId,
    dlt_entity_id: dltEntityId,
  };
}

function fieldsAfterVariables(message: StoredMessage, content: SmsContent) {
  return {
    callback_url: content.callbackUrl,
    tags: content.tags,
    metadata: content.metadata,
    status: message.progress.status,
    created_at: toIso(message.createdAt),
  };
}
