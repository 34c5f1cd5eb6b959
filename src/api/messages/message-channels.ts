import { EMAIL_STATUSES, SMS_STATUSES } from "../../core/messages/message.ts";
import { EmailMessage } from "../email/email-resource.ts";
import { SmsMessage } from "../sms/sms-resource.ts";

/** How the endpoints that both channels have differ between the channels. */
export const MESSAGE_CHANNELS = [
  {
    channel: "sms",
    /** In the names of operations and schemas: `cancelSms`. */
    name: "Sms",
    one: "an SMS",
    plural: "SMS",
    tag: "SMS",
    path: "/v1/sms/messages",
    statuses: SMS_STATUSES,
    resource: SmsMessage,
    shown: "The message.",
  },
  {
    channel: "email",
    name: "Email",
    one: "an email",
    plural: "emails",
    tag: "Email",
    path: "/v1/emails/messages",
    statuses: EMAIL_STATUSES,
    resource: EmailMessage,
    shown: "The message; never its body.",
  },
] as const;
