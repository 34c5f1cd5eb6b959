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

  test("it is refused without the signature", () => {
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

test("one without an id or a sender is dropped, and answered all the same", () => {
  const connector = httpConnector({ provider: "vonage", base_url }, { api_key: "k", api_secret: "s" });
  for (const json of [{ text: "x" }, { text: "x", messageId: "1" }, { text: "x", msisdn: "44770090000" }]) {
    expect(readCallback(connector, { json })).toMatchObject({ inbound: [], answer: { status: 200 } });
  }
});
