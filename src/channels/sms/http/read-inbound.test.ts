import { describe, expect, test } from "bun:test";
import { createHmac } from "node:crypto";
import { CALLBACK_URL, httpConnector, readCallback } from "../../../../test/fakes/http-rig.ts";

const base_url = "http://127.0.0.1:1";

describe("twilio", () => {
  const connector = httpConnector(
    { provider: "twilio", base_url, account_sid: "AC1" },
    { auth_token: "token" },
  );
  const form = {
    MessageSid: "SM1",
    SmsStatus: "received",
    From: "+14155550123",
    To: "+14155550999",
    Body: "Grüße 😀",
    NumSegments: "1",
  };
  const signed = Object.entries(form).sort(([a], [b]) => (a < b ? -1 : 1));
  const text = CALLBACK_URL + signed.map(([name, value]) => name + value).join("");
  const signature = createHmac("sha1", "token").update(text).digest("base64");

  test("what a handset writes is read as documented, and answered in TwiML", () => {
    const reading = readCallback(connector, { form, headers: { "X-Twilio-Signature": signature } });
    expect(reading).toEqual({
      kind: "receipts",
      receipts: [],
      inbound: [
        {
          connectorId: connector.id,
          from: "+14155550123",
          to: "+14155550999",
          text: "Grüße 😀",
          encoding: "ucs2",
          segments: 1,
          receivedAt: 1_000,
          key: "SM1",
          sameSince: 1_000 - 7 * 24 * 3_600_000,
        },
      ],
      answer: { status: 200, body: "<Response></Response>", contentType: "text/xml" },
    });
  });

  test("what a handset writes is refused without the signature", () => {
    expect(readCallback(connector, { form })).toMatchObject({ kind: "refused", status: 401 });
  });
});

describe("vonage", () => {
  const connector = httpConnector({ provider: "vonage", base_url }, { api_key: "k", api_secret: "s" });
  const json = { msisdn: "447700900001", to: "447700900000", messageId: "0A01", text: "hello", type: "text" };

  test("what a handset writes is read as documented", () => {
    const reading = readCallback(connector, { json });
    expect(reading).toMatchObject({
      inbound: [{ from: "+447700900001", to: "+447700900000", text: "hello", key: "0A01", segments: 1 }],
      answer: { status: 200 },
    });
    expect(reading).not.toHaveProperty("inbound.0.part");
  });

  test("a part of a long one is a part", () => {
    const part = { ...json, concat: "true", "concat-ref": "7", "concat-total": "3", "concat-part": "2" };
    const query = new URLSearchParams(part).toString();
    const reading = readCallback(connector, { method: "GET", query });
    expect(reading).toMatchObject({ inbound: [{ part: { reference: 7, total: 3, number: 2 } }] });
  });

  const partOf = (reference: number, total: number, number: number) => {
    const part = { "concat-ref": `${reference}`, "concat-total": `${total}`, "concat-part": `${number}` };
    const reading = readCallback(connector, { json: { ...json, concat: "true", ...part } });
    return reading.kind === "receipts" ? reading.inbound?.map((each) => each.part) : reading.kind;
  };

  test.each([
    [0, 2, 1],
    [65_535, 2, 2],
    [1, 255, 255],
  ])("reference %p, %p parts, of which it is number %p: that is a part", (reference, total, number) => {
    expect(partOf(reference, total, number)).toEqual([{ reference, total, number }]);
  });

  test.each([
    [65_536, 2, 1],
    [1, 1, 1],
    [1, 256, 2],
    [1, 0, 1],
    [1, 3, 0],
    [1, 3, 4],
  ])(
    "reference %p, %p parts, number %p: nothing would complete it, so it is a message",
    (reference, total, number) => {
      expect(partOf(reference, total, number)).toEqual([undefined]);
    },
  );

  test("a delivery receipt is none", () => {
    const reading = readCallback(connector, {
      json: { messageId: "0A02", status: "delivered", msisdn: "447700900001", to: "X" },
    });
    expect(reading).toMatchObject({ receipts: [{ status: "delivered" }] });
    expect(reading).not.toHaveProperty("inbound");
  });
});

describe("plivo", () => {
  const connector = httpConnector({ provider: "plivo", base_url, auth_id: "MA1" }, { auth_token: "token" });
  const form = {
    From: "14155550123",
    To: "14155550999",
    Text: "yes",
    Type: "sms",
    MessageUUID: "u-1",
    Units: "1",
  };

  test("what a handset writes is read as documented, and answered in XML", () => {
    const made = createHmac("sha256", "token").update(`${CALLBACK_URL}nonce`).digest("base64");
    const headers = { "X-Plivo-Signature-V2": made, "X-Plivo-Signature-V2-Nonce": "nonce" };
    expect(readCallback(connector, { form, headers })).toMatchObject({
      receipts: [],
      inbound: [{ from: "+14155550123", to: "+14155550999", text: "yes", key: "u-1" }],
      answer: { status: 200, contentType: "text/xml" },
    });
  });
});

test("a message of a handset without an id, a sender or a recipient is dropped, and answered all the same", () => {
  const connector = httpConnector({ provider: "vonage", base_url }, { api_key: "k", api_secret: "s" });
  const whole = { text: "x", messageId: "1", msisdn: "447700900001", to: "447700900000" };
  expect(readCallback(connector, { json: whole })).toMatchObject({ inbound: [{ text: "x" }] });
  for (const missing of ["messageId", "msisdn", "to"]) {
    const json = { ...whole, [missing]: undefined };
    expect(readCallback(connector, { json })).toMatchObject({ inbound: [], answer: { status: 200 } });
  }
});
