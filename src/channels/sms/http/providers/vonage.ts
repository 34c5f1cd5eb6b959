/**
 * Vonage (Nexmo), SMS API.
 * https://developer.vonage.com/en/api/sms (request, ttl 20,000 to 604,800,000 ms)
 * https://developer.vonage.com/api-errors/sms (status of each message; 1 is throttled, 4, 8, 9 about the account)
 * https://developer.vonage.com/messaging/sms/guides/delivery-receipts (DLR: status, err-code, messageId)
 * https://developer.vonage.com/messaging/sms/guides/inbound-sms (what handsets write, long messages in parts)
 * https://developer.vonage.com/en/getting-started/concepts/signing-messages (sig)
 * Callbacks are signed if Vonage's support has turned that on: then set signature_secret and signature_method.
 * The JWT of its newer APIs does not come with these callbacks.
 * An SMS that is split has an id and a receipt for each part. Not verified: entity-id and content-id.
 */
import type { InboundDescription, ReceiptWord, VerifyDescription } from "../gateway.ts";
import type { HttpConfig } from "../http-config.ts";
import type { Provider } from "../provider.ts";

const STATUS = { json: "/messages/0/status" };
/** The status of each part of a long text. */
const EACH_STATUS = { json: "/messages/*/status" };
/** The status of each part of a long text that was not taken. */
const NOT_TAKEN = { json: "/messages/*/status", match: "^[1-9]\\d*$" };

export const vonage: Provider = {
  baseUrl: "https://rest.nexmo.com",
  needs: [],
  needsSecrets: ["api_key", "api_secret"],
  describe: ({ baseUrl, config, hasSecret }) => ({
    send: {
      url: `${baseUrl}/sms/json`,
      form: {
        api_key: "{{secret.api_key}}",
        api_secret: "{{secret.api_secret}}",
        from: "{{from}}",
        to: "{{to_digits}}",
        text: "{{text}}",
        type: "{{encoding|map:gsm7=text,ucs2=unicode}}",
        ttl: "{{validity_ms|min:20000|max:604800000}}",
        callback: "{{callback_url}}",
        "entity-id": "{{dlt_entity_id}}",
        "content-id": "{{dlt_template_id}}",
      },
      required: ["text", "from"],
    },
    answer: {
      id: { json: "/messages/*/message-id" },
      rows: [
        // Whichever part it is: no handset shows a text without it, and if all were sent again, those that were taken would come twice.
        { from: NOT_TAKEN, and: { from: EACH_STATUS, is: ["0"] }, outcome: "rejected" },
        { from: STATUS, is: ["1", "10"], outcome: "throttled" },
        { from: STATUS, is: ["5"], outcome: "deferred" },
        { from: STATUS, is: ["4", "8", "9", "11", "14"], outcome: "barred" },
        { from: STATUS, is: ["0"], outcome: "sent" },
        { from: STATUS, outcome: "rejected" },
      ],
      error_code: NOT_TAKEN,
      error_text: { json: "/messages/*/error-text" },
    },
    callback: {
      ...(hasSecret("signature_secret") && { verify: verifyBy(config) }),
      id: { json: "/messageId" },
      to: [{ json: "/msisdn" }],
      status: [{ json: "/status" }],
      statuses: STATUSES,
      error_code: { json: "/err-code" },
      inbound: INBOUND,
    },
    check: {
      url: `${baseUrl}/account/get-balance?api_key={{secret.api_key}}&api_secret={{secret.api_secret}}`,
    },
  }),
};

function verifyBy({ signature_method: method = "md5hash" }: HttpConfig): VerifyDescription {
  return { scheme: "vonage", secret: "signature_secret", ...(method !== "md5hash" && { algorithm: method }) };
}

/** The words of its reports. */
const STATUSES: Readonly<Record<string, ReceiptWord>> = {
  submitted: "sent",
  accepted: "sent",
  buffered: "sent",
  unknown: "sent",
  delivered: "delivered",
  expired: "expired",
  deleted: "undelivered",
  undeliverable: "undelivered",
  failed: "undelivered",
  rejected: "failed",
};

/** What a handset wrote. Reports about messages that we sent have no text. */
const INBOUND: InboundDescription = {
  when: { json: "/text" },
  id: { json: "/messageId" },
  from: { json: "/msisdn" },
  to: { json: "/to" },
  text: { json: "/text" },
  part: {
    reference: { json: "/concat-ref" },
    total: { json: "/concat-total" },
    number: { json: "/concat-part" },
  },
};
