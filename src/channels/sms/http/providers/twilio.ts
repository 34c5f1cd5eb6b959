/**
 * Twilio, Programmable Messaging.
 * https://www.twilio.com/docs/messaging/api/message-resource (send, statuses)
 * https://www.twilio.com/docs/messaging/guides/track-outbound-message-status (callback)
 * https://www.twilio.com/docs/messaging/guides/webhook-request (what handsets write; answered in TwiML)
 * https://www.twilio.com/docs/usage/security#validating-requests (X-Twilio-Signature)
 * https://www.twilio.com/docs/api/errors (21611, 30036, 90007: ValidityPeriod is 1 to 36,000 s)
 * Not verified: that 20003 and 20005 come only if the account is at fault.
 */
import type { AnswerDescription, InboundDescription } from "../gateway.ts";
import type { Provider } from "../provider.ts";

const ACCOUNT = "/2010-04-01/Accounts/{{config.account_sid}}";

export const twilio: Provider = {
  baseUrl: "https://api.twilio.com",
  needs: ["account_sid"],
  needsSecrets: ["auth_token"],
  describe: ({ baseUrl, config }) => ({
    send: {
      url: `${baseUrl}${ACCOUNT}/Messages.json`,
      auth: { kind: "basic", username: "{{config.account_sid}}", value: "{{secret.auth_token}}" },
      form: {
        To: "{{to}}",
        ...(config.messaging_service_sid === undefined
          ? { From: "{{from}}" }
          : { MessagingServiceSid: "{{config.messaging_service_sid}}" }),
        Body: "{{text}}",
        StatusCallback: "{{callback_url}}",
        ValidityPeriod: "{{validity_seconds|max:36000}}",
      },
      required: config.messaging_service_sid === undefined ? ["text", "from"] : ["text"],
    },
    answer: {
      id: { json: "/sid" },
      rows: ROWS,
      error_code: { json: "/code" },
      error_text: { json: "/message" },
    },
    callback: {
      verify: { scheme: "twilio", secret: "auth_token" },
      id: { json: "/MessageSid" },
      to: [{ json: "/To" }],
      status: [{ json: "/MessageStatus" }, { json: "/SmsStatus" }],
      statuses: {
        accepted: "sent",
        scheduled: "sent",
        queued: "sent",
        sending: "sent",
        sent: "sent",
        delivered: "delivered",
        read: "delivered",
        undelivered: "undelivered",
        failed: "failed",
        canceled: "failed",
      },
      error_code: { json: "/ErrorCode" },
      // It was in the queue for longer than its ValidityPeriod.
      error_statuses: { 30036: "expired" },
      answer: { status: 204, body: "" },
      inbound: INBOUND,
    },
    check: { url: `${baseUrl}${ACCOUNT}.json` },
  }),
};

const ROWS: NonNullable<AnswerDescription["rows"]> = [
  // In this order: the sender's queue is full, too many requests, too many requests at one time.
  { from: { json: "/code" }, is: ["21611", "20429", "14107"], outcome: "throttled" },
  { from: { json: "/code" }, is: ["20003", "20005"], outcome: "barred" },
  { http: "403", outcome: "rejected" },
];

/** What a handset wrote. Its status is `received`, which messages that we sent never have. */
const INBOUND: InboundDescription = {
  when: { json: "/SmsStatus" },
  is: ["received"],
  id: { json: "/MessageSid" },
  from: { json: "/From" },
  to: { json: "/To" },
  text: { json: "/Body" },
  segments: { json: "/NumSegments" },
  answer: { status: 200, body: "<Response></Response>", content_type: "text/xml" },
};
