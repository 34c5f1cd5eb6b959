/**
 * Gupshup, Enterprise SMS.
 * https://docs.gupshup.io/docs/send-message-to-single-number (request)
 * https://docs.gupshup.io/docs/sms-api-introduction (principalEntityId, dltTemplateId)
 * https://docs.gupshup.io/docs/real-time-delivery-reports (callback by GET, or by POST with a list in `response`)
 * https://docs.suprsend.com/v1.2.1/docs/gupshup-sms-errors (causes of the reports)
 * The answer is a line, `success | number | id`, whose id the reports call externalId, or `error | code | words`.
 * The callback URL is entered in Gupshup's settings, with its placeholders:
 * ?externalId=%0&deliveredTS=%1&status=%2&cause=%3&phoneNo=%4&errCode=%6
 * Not verified: which error codes are about the account (101 to 103 are taken for wrong credentials).
 */
import type { ReceiptWord } from "../gateway.ts";
import type { Provider } from "../provider.ts";

export const gupshup: Provider = {
  baseUrl: "https://enterprise.smsgupshup.com",
  needs: ["userid"],
  needsSecrets: ["password"],
  describe: ({ baseUrl }) => ({
    send: {
      url: `${baseUrl}/GatewayAPI/rest`,
      form: {
        method: "SendMessage",
        v: "1.1",
        auth_scheme: "plain",
        format: "text",
        userid: "{{config.userid}}",
        password: "{{secret.password}}",
        send_to: "{{to_digits}}",
        msg: "{{text}}",
        msg_type: "{{encoding|map:gsm7=TEXT,ucs2=UNICODE_TEXT}}",
        mask: "{{from}}",
        principalEntityId: "{{dlt_entity_id}}",
        dltTemplateId: "{{dlt_template_id}}",
      },
      required: ["text"],
    },
    answer: {
      id: { match: "^\\s*success\\s*\\|[^|]*\\|\\s*([^|\\s]+)" },
      rows: [
        { from: ERROR_CODE, is: ["101", "102", "103"], outcome: "barred" },
        { from: { match: "^\\s*error\\b" }, outcome: "rejected" },
      ],
      error_code: ERROR_CODE,
      error_text: { match: "^\\s*error\\s*\\|[^|]*\\|\\s*([^|\\r\\n]{1,200})" },
      dlt_codes: true,
    },
    callback: {
      json_field: "response",
      id: { json: "/externalId" },
      to: [{ json: "/phoneNo" }, { json: "/destAddr" }],
      // If the status is only FAIL, `cause` tells expired and refused apart.
      status: [{ json: "/cause" }, { json: "/status" }, { json: "/eventType" }],
      statuses: STATUSES,
      error_code: { json: "/errCode" },
      error_text: { json: "/cause" },
      dlt_codes: true,
    },
  }),
};

const ERROR_CODE = { match: "^\\s*error\\s*\\|\\s*(\\d{1,6})" };

/** The words of its reports. */
const STATUSES: Readonly<Record<string, ReceiptWord>> = {
  success: "delivered",
  delivered: "delivered",
  sent: "sent",
  submitted: "sent",
  deferred: "sent",
  expired: "expired",
  dnd_fail: "failed",
  dnd_timeout: "failed",
  blocked: "failed",
  outside_working_hours: "failed",
  fail: "undelivered",
  failed: "undelivered",
  undelivered: "undelivered",
};
