/**
 * Plivo, Message API.
 * https://www.plivo.com/docs/messaging/api/messages/ (request, message_uuid, message_expiry, dlt_ parameters)
 * https://docs.plivo.com/docs/messaging/api/message/message-status-callbacks (callback)
 * https://www.plivo.com/docs/messaging/xml/request (what handsets write; answered in XML)
 * https://docs.plivo.com/docs/messaging/concepts/signature-validation (X-Plivo-Signature-V2; V3 is taken too, as in
 * github.com/plivo/plivo-node)
 * message_expiry is at most 10,800 s. Not verified: the dlt_ parameters, which some pages call deprecated. They are sent if a
 * message has them.
 */
import type { Provider } from "../provider.ts";

const ACCOUNT = "/v1/Account/{{config.auth_id}}/";

export const plivo: Provider = {
  baseUrl: "https://api.plivo.com",
  needs: ["auth_id"],
  needsSecrets: ["auth_token"],
  describe: ({ baseUrl }) => ({
    send: {
      url: `${baseUrl}${ACCOUNT}Message/`,
      auth: { kind: "basic", username: "{{config.auth_id}}", value: "{{secret.auth_token}}" },
      json: {
        src: "{{from}}",
        dst: "{{to_digits}}",
        text: "{{text}}",
        url: "{{callback_url}}",
        method: "{{callback_url|as:POST}}",
        message_expiry: "{{validity_seconds|min:5|max:10800|number}}",
        dlt_entity_id: "{{dlt_entity_id}}",
        dlt_template_id: "{{dlt_template_id}}",
      },
      required: ["text", "from"],
    },
    answer: { id: { json: "/message_uuid/0" }, error_text: { json: "/error" } },
    callback: {
      verify: { scheme: "plivo", secret: "auth_token" },
      id: { json: "/MessageUUID" },
      to: [{ json: "/To" }],
      status: [{ json: "/Status" }],
      statuses: {
        queued: "sent",
        sent: "sent",
        delivered: "delivered",
        read: "delivered",
        undelivered: "undelivered",
        rejected: "failed",
        failed: "failed",
      },
      error_code: { json: "/ErrorCode" },
      inbound: {
        when: { json: "/Text" },
        id: { json: "/MessageUUID" },
        from: { json: "/From" },
        to: { json: "/To" },
        text: { json: "/Text" },
        segments: { json: "/Units" },
        answer: { status: 200, body: "<Response></Response>", content_type: "text/xml" },
      },
    },
    check: { url: `${baseUrl}${ACCOUNT}` },
  }),
};
