/** What the words of each provider's reports mean, and what else is read of a report. */
import { expect, test } from "bun:test";
import { createHmac } from "node:crypto";
import {
  CALLBACK_URL,
  type Callback,
  httpConnector,
  readCallback,
} from "../../../../../test/fakes/http-rig.ts";
import type { Receipt } from "../../../../core/messages/outcome.ts";

const TO = "+919876543210";
const DIGITS = "919876543210";

const CONNECTORS = {
  gupshup: httpConnector({ provider: "gupshup", userid: "1" }, { password: "p" }),
  infobip: httpConnector({ provider: "infobip", base_url: "https://x.api.infobip.com" }, { api_key: "k" }),
  kannel: httpConnector(
    { provider: "kannel", base_url: "http://127.0.0.1:1", username: "a" },
    { password: "p" },
  ),
  msg91: httpConnector({ provider: "msg91" }, { authkey: "k" }),
  plivo: httpConnector({ provider: "plivo", auth_id: "MA1" }, { auth_token: "token" }),
  twilio: httpConnector({ provider: "twilio", account_sid: "AC1" }, { auth_token: "token" }),
  vonage: httpConnector({ provider: "vonage" }, { api_key: "k", api_secret: "s" }),
};

type Provider = keyof typeof CONNECTORS;

/** A whole report as the provider sends it, with its word for the status. */
const REPORTS: Readonly<Record<Provider, (word: string, more?: Record<string, string>) => Callback>> = {
  gupshup: (cause, more) => ({
    method: "GET",
    query: new URLSearchParams({
      externalId: "id-1",
      deliveredTS: "1700000000000",
      status: "FAIL",
      cause,
      phoneNo: DIGITS,
      errCode: "",
      ...more,
    }).toString(),
  }),
  infobip: (groupName, more) => ({
    json: { results: [{ messageId: "id-1", to: DIGITS, status: { groupName, name: "?" }, error: more }] },
  }),
  kannel: (status, more) => ({
    method: "GET",
    query: new URLSearchParams({ id: "id-1", to: DIGITS, status, answer: "", ...more }).toString(),
  }),
  msg91: (desc, more) => ({ json: { requestId: "id-1", number: DIGITS, status: "2", desc, ...more } }),
  plivo: (Status, more) => ({
    form: { MessageUUID: "id-1", To: DIGITS, From: "ACMEIN", Status, Units: "1", ...more },
    headers: {
      "X-Plivo-Signature-V2": createHmac("sha256", "token").update(`${CALLBACK_URL}n`).digest("base64"),
      "X-Plivo-Signature-V2-Nonce": "n",
    },
  }),
  twilio: (word, more) => {
    const form = {
      From: "ACMEIN",
      MessageSid: "id-1",
      SmsSid: "id-1",
      SmsStatus: word,
      MessageStatus: word,
      To: TO,
    };
    return signedByTwilio({ ...form, ...more });
  },
  vonage: (status, more) => ({
    json: { messageId: "id-1", msisdn: DIGITS, to: "ACMEIN", status, "err-code": "0", ...more },
  }),
};

function signedByTwilio(form: Record<string, string>): Callback {
  const sorted = Object.keys(form).sort();
  const text = CALLBACK_URL + sorted.map((name) => name + form[name]).join("");
  return {
    form,
    headers: { "X-Twilio-Signature": createHmac("sha1", "token").update(text).digest("base64") },
  };
}

function receiptOf(provider: Provider, callback: Callback): Receipt | undefined {
  const reading = readCallback(CONNECTORS[provider], callback);
  if (reading.kind !== "receipts") return undefined;
  expect([reading.receipts.length, reading.inbound ?? []]).toEqual([1, []]);
  return reading.receipts[0];
}

const WORDS: Readonly<Record<Provider, Readonly<Partial<Record<Receipt["status"], string>>>>> = {
  gupshup: {
    delivered: "SUCCESS DELIVERED",
    sent: "SENT SUBMITTED DEFERRED",
    expired: "EXPIRED",
    failed: "DND_FAIL DND_TIMEOUT BLOCKED OUTSIDE_WORKING_HOURS",
    undelivered: "FAIL FAILED UNDELIVERED",
  },
  infobip: {
    delivered: "DELIVERED",
    sent: "PENDING",
    expired: "EXPIRED",
    failed: "REJECTED",
    undelivered: "UNDELIVERABLE",
  },
  kannel: { delivered: "1", sent: "4 8 66", expired: "34", failed: "16", undelivered: "2" },
  msg91: {
    delivered: "DELIVERED 1",
    sent: "SUBMITTED SENT PENDING",
    expired: "EXPIRED",
    failed: "NDNC Blocked_Number REJECTED Rejected_By_Provider 9 16 17 25",
    undelivered: "FAILED 2",
  },
  plivo: {
    delivered: "delivered read",
    sent: "queued sent",
    failed: "rejected failed",
    undelivered: "undelivered",
  },
  twilio: {
    delivered: "delivered read",
    sent: "accepted scheduled queued sending sent",
    failed: "failed canceled",
    undelivered: "undelivered",
  },
  vonage: {
    delivered: "delivered",
    sent: "submitted accepted buffered unknown",
    expired: "expired",
    failed: "rejected",
    undelivered: "deleted undeliverable failed",
  },
};

for (const provider of Object.keys(WORDS) as Provider[]) {
  test(`${provider}: a report is about the recipient it names, and its words mean what they say`, () => {
    for (const [status, words] of Object.entries(WORDS[provider])) {
      for (const word of words
        .split(" ")
        .map((each) => each.replaceAll("_", provider === "msg91" ? " " : "_"))) {
        const receipt = receiptOf(provider, REPORTS[provider](word));
        expect([word, receipt?.status]).toEqual([word, status]);
        expect(receipt).toMatchObject({
          providerMessageId: "id-1",
          recipient: provider === "twilio" ? TO : DIGITS,
        });
      }
    }
  });
}

test.each([
  ["gupshup", "FAIL", { errCode: "012" }, "undelivered", "gupshup.012", "FAIL"],
  ["gupshup", "FAIL", { errCode: "633" }, "failed", "dlt.633", undefined],
  [
    "infobip",
    "UNDELIVERABLE",
    { name: "EC_ABSENT_SUBSCRIBER", description: "Absent Subscriber" },
    "undelivered",
    "infobip.ec_absent_subscriber",
    "Absent Subscriber",
  ],
  ["kannel", "2", { answer: "id:1 stat:UNDELIV err:027" }, "undelivered", "kannel.027", "UNDELIV"],
  [
    "msg91",
    "FAILED",
    { failedReason: "Absent subscriber" },
    "undelivered",
    "receipt.undelivered",
    "Absent subscriber",
  ],
  ["plivo", "undelivered", { ErrorCode: "200" }, "undelivered", "plivo.200", undefined],
  ["twilio", "undelivered", { ErrorCode: "30003" }, "undelivered", "twilio.30003", undefined],
  ["vonage", "failed", { "err-code": "6" }, "undelivered", "vonage.6", undefined],
] as const)("%s: a report of %p with %p tells why", (provider, word, more, status, code, message) => {
  const receipt = receiptOf(provider, REPORTS[provider](word, more));
  expect(receipt).toMatchObject({ status, error: { code, ...(message && { message }) } });
});

test("msg91: the number of a status counts where its word is not known, also in a report of version 2", () => {
  const statusOf = (json: unknown) => receiptOf("msg91", { json })?.status;
  expect(statusOf({ requestId: "1", desc: "?", status: 9 })).toBe("failed");
  expect(statusOf({ requestId: "1", report: [{ desc: "?", status: "1", number: DIGITS }] })).toBe(
    "delivered",
  );
  expect(receiptOf("msg91", { json: { requestId: "1", report: [{ number: DIGITS }] } })?.recipient).toBe(
    DIGITS,
  );
});

test("what a handset wrote counts as many segments as the provider says", () => {
  const twilio = signedByTwilio({
    MessageSid: "SM1",
    SmsStatus: "received",
    From: TO,
    To: "+14155550999",
    Body: "x",
    NumSegments: "3",
  });
  const plivo = {
    ...REPORTS.plivo("?"),
    form: { MessageUUID: "1", From: DIGITS, To: "1415", Text: "x", Units: "3" },
  };
  for (const [provider, callback] of [
    ["twilio", twilio],
    ["plivo", plivo],
  ] as const) {
    expect(readCallback(CONNECTORS[provider], callback)).toMatchObject({
      receipts: [],
      inbound: [{ segments: 3 }],
    });
  }
});
