import { describe, expect, test } from "bun:test";
import { createHmac } from "node:crypto";
import { createHeldClock } from "../../../../../test/fakes/held-clock.ts";
import {
  CALLBACK_URL,
  httpConnector,
  never,
  openHttpRig,
  outgoingSms,
  readCallback,
  withGateway,
} from "../../../../../test/fakes/http-rig.ts";
import { httpConnectorKind } from "../http-connector.ts";

const SID = "AC00000000000000000000000000000000";
const TOKEN = "twilio-auth-token";
const CREATED = { status: 201, body: { sid: "SM1", status: "queued", error_code: null } };

const gateway = withGateway(CREATED);

const connector = (over: Record<string, unknown> = {}) =>
  httpConnector(
    { provider: "twilio", base_url: gateway().url, account_sid: SID, ...over },
    { auth_token: TOKEN },
  );

describe("twilio", () => {
  test("a message is created as documented, and its SID is its id", async () => {
    const { channel } = openHttpRig(connector());
    const outcome = await channel.send(
      outgoingSms({ text: "Zahl € 5 & mehr", remainingMs: 86_400_000 }),
      never,
    );
    expect(outcome.parts).toEqual([{ kind: "sent", providerMessageIds: ["SM1"] }]);
    const [request] = gateway().requests;
    expect(request).toMatchObject({
      method: "POST",
      path: `/2010-04-01/Accounts/${SID}/Messages.json`,
      fields: {
        To: "+919876543210",
        From: "ACMEIN",
        Body: "Zahl € 5 & mehr",
        StatusCallback: CALLBACK_URL,
        ValidityPeriod: "36000",
      },
    });
    expect(request?.headers.authorization).toBe(`Basic ${btoa(`${SID}:${TOKEN}`)}`);
    await channel.stop();
  });

  test("a Messaging Service picks the sender", async () => {
    const { channel } = openHttpRig(connector({ messaging_service_sid: "MG1" }));
    await channel.send(outgoingSms(), never);
    expect(gateway().requests[0]?.fields.MessagingServiceSid).toBe("MG1");
    expect(gateway().requests[0]?.fields).not.toHaveProperty("From");
    await channel.stop();
  });

  test.each([
    [400, 21211, "rejected", true],
    [403, 21408, "rejected", true],
    [400, 21611, "deferred", false],
    [429, 20429, "deferred", false],
    [401, 20003, "deferred", false],
    [500, 20500, "deferred", true],
  ] as const)("an answer %p with code %p is %s", async (status, code, kind, counts) => {
    gateway().behave({ status, body: { code, message: `The 'To' number +919876543210 is bad`, status } });
    const { channel } = openHttpRig(connector());
    const outcome = await channel.send(outgoingSms(), never);
    expect(outcome).toMatchObject({
      parts: [{ kind, error: { code: `twilio.${code}` } }],
      countsAsAttempt: counts,
    });
    expect(JSON.stringify(outcome)).not.toContain("9876543210");
    await channel.stop();
  });

  test("a status callback is read when its signature is right, and only then", () => {
    const form = { MessageSid: "SM1", MessageStatus: "undelivered", ErrorCode: "30005", To: "+919876543210" };
    const signed = CALLBACK_URL + Object.entries(form).sort().flat().join("");
    const signature = createHmac("sha1", TOKEN).update(signed).digest("base64");
    const headers = { "X-Twilio-Signature": signature };
    expect(readCallback(connector(), { form, headers })).toEqual({
      kind: "receipts",
      receipts: [
        {
          connectorId: connector().id,
          providerMessageId: "SM1",
          recipient: "+919876543210",
          status: "undelivered",
          error: { code: "twilio.30005", message: "twilio reported undelivered" },
          raw: "undelivered error 30005",
          receivedAt: 1_000,
        },
      ],
      answer: { status: 204, body: "", contentType: "text/plain; charset=utf-8" },
    });
    expect(
      readCallback(connector(), { form: { ...form, MessageStatus: "delivered" }, headers }),
    ).toMatchObject({
      kind: "refused",
      status: 401,
    });
  });

  test.each([
    ["queued", undefined, "sent"],
    ["delivered", undefined, "delivered"],
    ["failed", "30006", "failed"],
    ["undelivered", "30036", "expired"],
    ["a word nobody knows", undefined, "sent"],
  ])("status %p with error %p is %s", (status, code, word) => {
    const form = { MessageSid: "SM1", MessageStatus: status, ...(code && { ErrorCode: code }) };
    const signed = CALLBACK_URL + Object.entries(form).sort().flat().join("");
    const headers = { "X-Twilio-Signature": createHmac("sha1", TOKEN).update(signed).digest("base64") };
    expect(readCallback(connector(), { form, headers })).toMatchObject({ receipts: [{ status: word }] });
  });

  test("trying it reads the account, and tells a wrong token", async () => {
    gateway().behave({ status: 200, body: { sid: SID } });
    expect(await httpConnectorKind.check(connector(), createHeldClock())).toMatchObject({ ok: true });
    expect(gateway().requests[0]).toMatchObject({ method: "GET", path: `/2010-04-01/Accounts/${SID}.json` });
    gateway().behave({ status: 401, body: { code: 20003, message: "Authenticate" } });
    expect(await httpConnectorKind.check(connector(), createHeldClock())).toMatchObject({
      ok: false,
      detail: expect.stringContaining("401"),
    });
  });
});
