/** The schema of an SMS that a handset wrote. Fields that are not used are absent. */
import Type from "typebox";
import { SMS_ENCODINGS } from "../../core/sms/sms-segments.ts";
import { KEYWORD_MEANINGS } from "../../core/suppressions/opt-out.ts";

const fields = {
  message_id: Type.String({ description: "Unique message identifier" }),
  from: Type.String({
    description: "The sender, in E.164 if it is a number",
    examples: ["+919876543210"],
  }),
  to: Type.String({ description: "The number or short code that it was sent to", examples: ["56161"] }),
  text: Type.String(),
  segments: Type.Integer({ minimum: 1 }),
  encoding: Type.Enum(SMS_ENCODINGS),
  keyword: Type.Optional(
    Type.Enum(KEYWORD_MEANINGS, {
      description: "The whole text is one of the account's stop or start words",
    }),
  ),
  partial: Type.Optional(
    Type.Literal(true, { description: "Parts of a long message are missing; each gap is shown as `…`" }),
  ),
  received_at: Type.String({ format: "date-time" }),
};

export const InboundSms = Type.Object(
  { account_id: Type.String({ description: "The caller's account identifier" }), ...fields },
  { title: "InboundSms" },
);

/** As operators see it. */
export const InboundRow = Type.Object({
  account_id: Type.Optional(Type.String({ description: "Absent: the number belongs to no account" })),
  connector_id: Type.String(),
  ...fields,
});
