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

const ACCEPTED = {
  status: 202,
  body: { message: "message(s) queued", message_uuid: ["uuid-1"], api_id: "api-1" },
};
const gateway = withGateway(ACCEPTED);

const connector = () =>
  httpConnector(
    { provider: "plivo", base_url: gateway().url, auth_id: "MA1" },
    { auth_token: "plivo_test_auth_token" },
  );

function signed(nonce = "12345") {
  const signature = createHmac("sha256", "plivo_test_auth_token")
    .update(CALLBACK_URL + nonce)
    .digest("base64");
  return { "X-Plivo-Signature-V2": signature, "X-Plivo-Signature-V2-Nonce": nonce };
}

describe("plivo", () => {
  test("a message is sent as documented", async () => {
    const { channel } = openHttpRig(connector());
    const outcome = await channel.send(outgoingSms({ remainingMs: 86_400_000 }), never);
    expect(outcome.parts).toEqual([{ kind: "sent", providerMessageIds: ["uuid-1"] }]);
    expect(gateway().requests[0]).toMatchObject({ method: "POST", path: "/v1/Account/MA1/Message/" });
    expect(gateway().requests[0]?.headers.authorization).toBe(`Basic ${btoa("MA1:plivo_test_auth_token")}`);
    expect(gateway().requests[0]?.json).toEqual({
      src: "ACMEIN",
      dst: "919876543210",
      text: "Ihr Code ist 4711 & gilt 5 Minuten.",
      url: CALLBACK_URL,
      method: "POST",
      message_expiry: 10_800,
      dlt_entity_id: "1101160000000000001",
      dlt_template_id: "1107160000000000001",
    });
    await channel.stop();
  });

  test.each([
    [400, "rejected", true],
    [401, "deferred", false],
    [429, "deferred", false],
    [500, "deferred", true],
  ] as const)("an answer %p is %s", async (status, kind, counts) => {
    gateway().behave({ status, body: { api_id: "a", error: "what is wrong" } });
    const { channel } = openHttpRig(connector());
    expect(await channel.send(outgoingSms(), never)).toMatchObject({
      parts: [{ kind, error: { code: `http.${status}`, message: "what is wrong" } }],
      countsAsAttempt: counts,
    });
    await channel.stop();
  });

  test.each([
    ["queued", "", "sent"],
    ["delivered", "000", "delivered"],
    ["undelivered", "300", "undelivered"],
    ["failed", "200", "failed"],
  ])("a callback %p with error %p is %s", (status, code, word) => {
    const form = { MessageUUID: "uuid-1", Status: status, ErrorCode: code, To: "919876543210" };
    expect(readCallback(connector(), { form, headers: signed() })).toMatchObject({
      kind: "receipts",
      receipts: [{ providerMessageId: "uuid-1", status: word }],
    });
  });

  test("a callback without its signature is refused", () => {
    const form = { MessageUUID: "uuid-1", Status: "delivered" };
    expect(readCallback(connector(), { form })).toMatchObject({ kind: "refused", status: 401 });
    const headers = { ...signed(), "X-Plivo-Signature-V2-Nonce": "54321" };
    expect(readCallback(connector(), { form, headers })).toMatchObject({ kind: "refused", status: 401 });
  });

  test("trying it reads the account", async () => {
    gateway().behave({ status: 200, body: { auth_id: "MA1" } });
    expect(await httpConnectorKind.check(connector(), createHeldClock())).toMatchObject({ ok: true });
    expect(gateway().requests[0]).toMatchObject({ method: "GET", path: "/v1/Account/MA1/" });
  });
});
