/**
 * Kannel's sendsms CGI, and the gateways that imitate it.
 * https://sources.debian.org/src/kannel/1.4.5-22/doc/userguide/userguide.xml ("Using the HTTP interface to send
 * SMS messages", "Delivery Reports", "Parameters (Escape Codes)")
 * The answer gives the message no id: receipts find it by our own, which is in the query of dlr-url. Kannel fills %d with
 * the kind of the report and %A with the SMSC's own receipt.
 * Of a text that it splits, only the first part has a receipt (gw/sms.c, sms_split).
 * `meta-data` reaches the SMSC only if Kannel has smpp-tlv groups of these names; seen with 1.4.5, as were receipts.
 */
import type { CallbackDescription } from "../gateway.ts";
import type { Provider } from "../provider.ts";

export const kannel: Provider = {
  needs: ["base_url", "username"],
  needsSecrets: ["password"],
  describe: ({ baseUrl }) => ({
    send: {
      method: "GET",
      url: `${baseUrl}/cgi-bin/sendsms`,
      query: {
        username: "{{config.username}}",
        password: "{{secret.password}}",
        from: "{{from}}",
        to: "{{to}}",
        text: "{{text}}",
        charset: "UTF-8",
        coding: "{{encoding|map:gsm7=0,ucs2=2}}",
        validity: "{{validity_minutes}}",
        smsc: "{{config.smsc}}",
        // 1 delivered, 2 not delivered, 16 refused by the SMSC.
        "dlr-mask": "{{callback_url|as:19}}",
        "dlr-url": "{{callback_url}}?id={{message_id}}&to={{to_digits}}&status=%d&answer=%A",
        "meta-data": "?smpp?dlt_entity_id={{dlt_entity_id}}&dlt_template_id={{dlt_template_id}}",
      },
      required: ["text"],
    },
    answer: {
      own_id: true,
      rows: [
        { http: "403", from: { match: "^Authorization failed" }, outcome: "barred" },
        { http: "403", outcome: "rejected" },
        // Kannel's own words, for imitations that answer 200 to everything.
        { http: "200", from: { match: "^(?:0: Accepted|3: Queued|Sent\\.)" }, outcome: "sent" },
        { http: "200", outcome: "rejected" },
      ],
      error_text: { match: "^[^\\r\\n]{1,200}" },
    },
    callback,
  }),
};

const callback: CallbackDescription = {
  id: { json: "/id" },
  to: [{ json: "/to" }],
  // What Kannel gave up by itself comes with 16, as what the SMSC refused. If a message was not delivered (2), the SMSC's
  // own word tells expired and refused apart.
  status: [
    { json: "/answer", match: "^NACK/(validity expired)$" },
    { json: "/status", match: "^([^2].*|2.+)$" },
    { json: "/answer", match: "(?:^|[\\s/])stat:(\\w{1,16})" },
    { json: "/status", match: "^(2)$" },
  ],
  statuses: {
    1: "delivered",
    2: "undelivered",
    4: "sent",
    8: "sent",
    16: "failed",
    expired: "expired",
    "validity expired": "expired",
    rejectd: "failed",
    // Bits of newer versions: not delivered because expired, and nobody knows.
    34: "expired",
    66: "sent",
  },
  // `NACK/0x0000000b/Invalid Destination Address`: what the SMSC refused at once, with its command_status. Kannel's own
  // words have no code: `NACK/receiver in black-list`. `err:000` is none.
  error_code: {
    json: "/answer",
    match: "(?:(?:^|[\\s/])err:|^NACK/)(\\d{0,9}[1-9A-Za-z]\\w{0,9})(?:\\s*$|[^\\w\\s]|\\s.*:)",
  },
  error_text: {
    json: "/answer",
    match: "(?:(?:^|[\\s/])stat:|^NACK/(?:\\w{1,10}/)?)(.{1,100}?)(?:$|\\s\\w+:)",
  },
  dlt_codes: true,
};
