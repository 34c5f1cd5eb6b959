/**
 * Infobip, SMS API, version 3.
 * https://www.infobip.com/docs/developer-resources/quickstart (POST {base}/sms/3/messages, `App` authorization)
 * https://www.infobip.com/docs/developer-resources/api-fundamentals/webhooks (webhooks.delivery.url per request)
 * https://infobip.com/docs/api/channels/sms/sms-messaging/logs-and-status-reports/receive-outbound-sms-message-report
 * https://www.infobip.com/docs/developer-resources/api-fundamentals/message-status-codes (groups and names;
 * DELIVERED_TO_OPERATOR is not final)
 * github.com/infobip/infobip-api-php-client, SmsRegionalOptions (regional.indiaDlt)
 * Callbacks carry a name and password if the account has asked for that: then set callback_username and
 * callback_password. Not verified: validityPeriod with the unit SECONDS, and the place of error words.
 */
import type { Provider } from "../provider.ts";

const GROUP = { json: "/messages/0/status/groupName" };
const NAME = { json: "/messages/0/status/name" };

export const infobip: Provider = {
  needs: ["base_url"],
  needsSecrets: ["api_key"],
  describe: ({ baseUrl, config, hasSecret }) => ({
    send: {
      url: `${baseUrl}/sms/3/messages`,
      auth: { kind: "header", name: "Authorization", value: "App {{secret.api_key}}" },
      headers: { Accept: "application/json" },
      json: { messages: [MESSAGE] },
      required: ["text"],
    },
    answer: {
      id: { json: "/messages/0/messageId" },
      rows: [
        // They are in the group REJECTED too, but say nothing of the message.
        { http: "2xx", from: NAME, is: WITHOUT_CREDIT, outcome: "barred" },
        { http: "2xx", from: NAME, is: ["REJECTED_SYSTEM_ERROR"], outcome: "deferred" },
        { http: "2xx", from: GROUP, is: ["REJECTED", "UNDELIVERABLE", "EXPIRED"], outcome: "rejected" },
      ],
      error_code: NAME,
      error_text: { match: '"(?:description|text)"\\s*:\\s*"([^"\\\\]{1,200})"' },
    },
    callback: {
      ...(config.callback_username !== undefined &&
        hasSecret("callback_password") && {
          verify: { scheme: "basic", username: config.callback_username, secret: "callback_password" },
        }),
      reports: "/results",
      id: { json: "/messageId" },
      to: [{ json: "/to" }],
      status: [{ json: "/status/name" }, { json: "/status/groupName" }],
      statuses: {
        DELIVERED_TO_OPERATOR: "sent",
        PENDING: "sent",
        DELIVERED: "delivered",
        UNDELIVERABLE: "undelivered",
        EXPIRED: "expired",
        REJECTED: "failed",
      },
      error_code: { json: "/error/name" },
      error_text: { json: "/error/description" },
    },
    check: { url: `${baseUrl}/account/1/balance` },
  }),
};

const WITHOUT_CREDIT = ["REJECTED_NOT_ENOUGH_CREDITS", "REJECTED_PREPAID_PACKAGE_EXPIRED"];

const MESSAGE = {
  sender: "{{from}}",
  destinations: [{ to: "{{to_digits}}" }],
  content: { text: "{{text}}" },
  options: {
    validityPeriod: { amount: "{{validity_seconds|max:172800|number}}", timeUnit: "SECONDS" },
    regional: {
      indiaDlt: { principalEntityId: "{{dlt_entity_id}}", contentTemplateId: "{{dlt_template_id}}" },
    },
  },
  webhooks: { delivery: { url: "{{callback_url}}" } },
};
