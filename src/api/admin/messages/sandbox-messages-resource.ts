import Type, { type TSchema } from "typebox";
import { CHANNELS } from "../../../core/messages/message.ts";
import type { SandboxEntry, SandboxQuery } from "../../../core/messages/sandbox-entry.ts";
import { present } from "../../../core/present.ts";
import { SMS_ENCODINGS } from "../../../core/sms/sms-segments.ts";
import { toIso } from "../../../core/time/timestamp.ts";
import { mailbox } from "../../email/email-resource.ts";
import type { Endpoint } from "../../endpoint.ts";
import { answerPage, pageSchema } from "../../lists/answer-page.ts";
import { restorePlus } from "../../lists/restore-plus.ts";
import type { AdminDeps } from "../admin-deps.ts";
import { accountOfQueryIfAny } from "../draft.ts";
import { ORDERED_PAGE_QUERY, readOrderedPage } from "../page.ts";
import { adminOnly, adminPath } from "../record-plan.ts";
import { shownFields } from "../shown-fields.ts";
import { CHANNEL_FILTER, readChannel } from "./channel-filter.ts";

/** What the simulator was given to send, for test suites to assert on. */
export function sandboxMessageEndpoints({ store }: AdminDeps): readonly Endpoint[] {
  return [
    {
      ...adminOnly("sandbox"),
      method: "GET",
      path: adminPath("sandbox/messages"),
      operation: "listSandboxMessages",
      summary: "List what sandbox accounts have sent, as it would have been transmitted",
      query: {
        account_id: text,
        message_id: text,
        to: Type.Optional(
          Type.String({ description: "Number (E.164), or address in any case and spelling" }),
        ),
        channel: CHANNEL_FILTER,
        ...ORDERED_PAGE_QUERY,
      } as Readonly<Record<string, TSchema>>,
      responses: {
        200: {
          description: "In the order received, or the last received first",
          schema: pageSchema(shown, "after"),
        },
      },
      async handle({ query }) {
        const page = readOrderedPage(query);
        const account = await accountOfQueryIfAny(store.records, query);
        const filters = { ...readFilters(query), ...present({ accountId: account?.id }) };
        return answerPage(page, (wanted) => store.sandbox.list({ ...filters, ...wanted }), toResource);
      },
    },
  ];
}

const text = Type.Optional(Type.String());
const recipients = (description: string) =>
  Type.Optional(Type.Array(mailbox("A recipient"), { description: `Email: ${description}` }));

const shown = Type.Object({
  id: shownFields.id,
  account_id: shownFields.account_id,
  message_id: Type.String({ format: "uuid" }),
  channel: Type.Enum(CHANNELS, { type: "string" }),
  to: Type.String({ description: "The number, or the address of the envelope" }),
  received_at: Type.String({ format: "date-time" }),
  from: Type.Optional(
    Type.Union([Type.String({ description: "SMS: the sender" }), mailbox("Email: the sender")]),
  ),
  text: Type.Optional(Type.String({ description: "SMS; absent if only the template's id is known" })),
  segments: Type.Optional(Type.Integer()),
  encoding: Type.Optional(Type.Enum(SMS_ENCODINGS, { type: "string" })),
  template_id: text,
  dlt_template_id: text,
  dlt_entity_id: text,
  variables: Type.Optional(Type.Object({}, { additionalProperties: Type.String() })),
  recipients: recipients("`to` as it was sent"),
  cc: recipients("`cc` as it was sent"),
  bcc: recipients("`bcc` of the request"),
  reply_to: text,
  subject: text,
  body_text: text,
  body_html: text,
  headers: Type.Optional(Type.Object({}, { additionalProperties: Type.String() })),
  source: Type.Optional(Type.String({ description: "The whole email, RFC 5322" })),
  truncated: Type.Optional(Type.Array(Type.String(), { description: "Fields that were cut to their limit" })),
});

function toResource({ id, accountId, messageId, channel, to, receivedAt, rendered }: SandboxEntry) {
  const { to: recipients, ...rest } = rendered;
  return {
    id,
    account_id: accountId,
    message_id: messageId,
    channel,
    to,
    received_at: toIso(receivedAt),
    recipients,
    ...rest,
  };
}

function readFilters(query: URLSearchParams): Pick<SandboxQuery, "messageId" | "to" | "channel"> {
  const to = query.get("to");
  return present({
    messageId: query.get("message_id")?.toLowerCase(),
    to: to === null ? undefined : restorePlus(to),
    channel: readChannel(query),
  });
}
