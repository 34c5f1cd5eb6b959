/**
 * MSG91, SMS by template ("Send SMS via FLOW").
 * https://api.msg91.com/apidoc/textsms/send-sms-flow.php and https://docs.msg91.com/sms/send-sms (request)
 * https://npmjs.com/package/sms-msg91 (answer: {"message": request id, "type": "success"})
 * https://msg91.com/help/webhooks/how-can-i-get-the-delivery-reports-on-my-webhook-url (webhook, versions 2 and 3)
 * https://msg91.com/help/delivery-report (words of the reports)
 * https://msg91.com/help/how-to-update-contact-details-for-billing-and-tech-alerts (error codes)
 * MSG91 renders the text by its own template id: `template_ids` says which one belongs to a DLT template id or to
 * one of ours; without an entry the DLT template id itself is tried. Set the webhook's version to 3, one report as
 * JSON; of version 2, only the first request of a callback is read.
 * Not verified: codes of refusals beyond `type`, and the numbers of `status` in the reports: `desc` counts first.
 */
import type { ReceiptWord } from "../gateway.ts";
import type { Provider } from "../provider.ts";

/** The most variables of a request (`core/sms/send-sms.ts`). */
const VARIABLES = 20;

export const msg91: Provider = {
  baseUrl: "https://control.msg91.com",
  needs: [],
  needsSecrets: ["authkey"],
  describe: ({ baseUrl, config }) => ({
    renders_template: true,
    send: {
      url: `${baseUrl}/api/v5/flow`,
      auth: { kind: "header", name: "authkey", value: "{{secret.authkey}}" },
      json: {
        template_id: "{{provider_template_id}}",
        short_url: "0",
        sender: "{{from}}",
        recipients: [{ mobiles: "{{to_digits}}", ...variables(config.variable_prefix ?? "VAR") }],
      },
      required: ["provider_template_id"],
    },
    answer: {
      id: { json: "/message" },
      rows: [
        { http: "418", outcome: "barred" },
        { from: { json: "/code" }, is: OF_THE_ACCOUNT, outcome: "barred" },
        { from: { json: "/type" }, is: ["error"], outcome: "rejected" },
      ],
      error_code: { json: "/code" },
      error_text: { json: "/message" },
      dlt_codes: true,
    },
    callback: {
      json_field: "data",
      id: { json: "/requestId" },
      to: [{ json: "/number" }, { json: "/report/0/number" }],
      status: [
        { json: "/desc" },
        { json: "/report/0/desc" },
        { json: "/status" },
        { json: "/report/0/status" },
      ],
      statuses: STATUSES,
      error_code: { json: "/failedReason", match: "^\\s*(\\d{3,4})\\b" },
      error_text: { json: "/failedReason" },
      dlt_codes: true,
    },
  }),
};

/** Wrong key (201, 207, 401), address not allowed (208, 418), no balance (301), account expired or banned (302, 303). */
const OF_THE_ACCOUNT = ["201", "207", "208", "301", "302", "303", "401", "418"];

/** `VAR1: {{variables.1}}` and so on. Variables that a message does not have are left out. */
function variables(prefix: string): Record<string, string> {
  const numbers = Array.from({ length: VARIABLES }, (_, index) => index + 1);
  return Object.fromEntries(numbers.map((number) => [`${prefix}${number}`, `{{variables.${number}}}`]));
}

/** The words of its reports. */
const STATUSES: Readonly<Record<string, ReceiptWord>> = {
  delivered: "delivered",
  submitted: "sent",
  sent: "sent",
  pending: "sent",
  failed: "undelivered",
  expired: "expired",
  ndnc: "failed",
  "blocked number": "failed",
  rejected: "failed",
  "rejected by provider": "failed",
  1: "delivered",
  2: "undelivered",
  9: "failed",
  16: "failed",
  17: "failed",
  25: "failed",
};
