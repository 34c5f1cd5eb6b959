import { describe, expect, test } from "bun:test";
import { createHash, createHmac } from "node:crypto";
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

const ACCEPTED = answer("0");
const gateway = withGateway(ACCEPTED);

function answer(status: string, text?: string) {
  const message = { to: "919876543210", "message-id": "0C01", status, ...(text && { "error-text": text }) };
  return { status: 200, body: { "message-count": "1", messages: [message] } };
}

/** What Vonage says of a part that it has taken. */
const TAKEN = { "message-id": "0C01", status: "0" };

const connector = (over: Record<string, unknown> = {}, secrets: Record<string, string> = {}) =>
  httpConnector(
    { provider: "vonage", base_url: gateway().url, ...over },
    { api_key: "key1", api_secret: "s&", ...secrets },
  );

const DLR = {
  messageId: "0C01",
  msisdn: "919876543210",
  "err-code": "0",
  status: "delivered",
  "network-code": "40410",
};

describe("vonage", () => {
  test("a message is sent as documented", async () => {
    const { channel } = openHttpRig(connector());
    const outcome = await channel.send(outgoingSms({ text: "₹ 5", remainingMs: 5_000 }), never);
    expect(outcome.parts).toEqual([{ kind: "sent", providerMessageIds: ["0C01"] }]);
    expect(gateway().requests[0]).toMatchObject({ method: "POST", path: "/sms/json" });
    expect(gateway().requests[0]?.fields).toEqual({
      api_key: "key1",
      api_secret: "s&",
      from: "ACMEIN",
      to: "919876543210",
      text: "₹ 5",
      type: "unicode",
      ttl: "20000",
      callback: CALLBACK_URL,
      "entity-id": "1101160000000000001",
      "content-id": "1107160000000000001",
    });
    await channel.stop();
  });

  test("each id in its answer is that of a part", async () => {
    const parts = [1, 2].map((part) => ({ "message-id": `0C0${part}`, status: "0" }));
    gateway().behave({ status: 200, body: { "message-count": "2", messages: parts } });
    const { channel } = openHttpRig(connector());
    const outcome = await channel.send(outgoingSms(), never);
    expect(outcome.parts).toEqual(["0C01", "0C02"].map((id) => ({ kind: "sent", providerMessageIds: [id] })));
    await channel.stop();
  });

  test.each([
    ["the last", [TAKEN, { status: "9", "error-text": "Partner quota exceeded" }], "9"],
    ["the first, since we are too fast", [{ status: "1", "error-text": "Throttled" }, TAKEN], "1"],
    ["the first, by an error of Vonage", [{ status: "5" }, TAKEN, TAKEN], "5"],
    ["two around another", [{ status: "1" }, TAKEN, { status: "1" }], "1"],
  ])(
    "a long text of which all parts but %s are taken is refused: again, it would come twice in part",
    async (_, parts, code) => {
      gateway().behave({ status: 200, body: { "message-count": `${parts.length}`, messages: parts } });
      const { channel } = openHttpRig(connector());
      expect(await channel.send(outgoingSms(), never)).toMatchObject({
        parts: [{ kind: "rejected", error: { code: `vonage.${code}` } }],
      });
      await channel.stop();
    },
  );

  test("a long text of which no part is taken is sent again", async () => {
    const parts = ["1", "1"].map((status) => ({ status, "error-text": "Throttled" }));
    gateway().behave({ status: 200, body: { "message-count": "2", messages: parts } });
    const { channel } = openHttpRig(connector());
    expect(await channel.send(outgoingSms(), never)).toMatchObject({ parts: [{ kind: "deferred" }] });
    await channel.stop();
  });

  test.each([
    ["1", "Throttled", "deferred", false],
    ["4", "Bad credentials", "deferred", false],
    ["9", "Partner quota exceeded", "deferred", false],
    ["5", "Internal error", "deferred", true],
    ["6", "Unroutable message - rejected", "rejected", true],
  ] as const)("status %p, %p, is %s", async (status, text, kind, counts) => {
    gateway().behave(answer(status, text));
    const { channel } = openHttpRig(connector());
    expect(await channel.send(outgoingSms(), never)).toMatchObject({
      parts: [{ kind, error: { code: `vonage.${status}`, message: text } }],
      countsAsAttempt: counts,
    });
    await channel.stop();
  });

  test("receipts come by query, form or JSON", () => {
    const query = new URLSearchParams(DLR).toString();
    for (const callback of [{ method: "GET", query }, { form: DLR }, { json: DLR }]) {
      expect(readCallback(connector(), callback)).toMatchObject({
        kind: "receipts",
        receipts: [{ providerMessageId: "0C01", status: "delivered" }],
      });
    }
  });

  test.each([
    ["failed", "4", "undelivered"],
    ["expired", "1", "expired"],
    ["rejected", "6", "failed"],
    ["buffered", "0", "sent"],
  ])("status %p with err-code %p is %s", (status, code, word) => {
    expect(readCallback(connector(), { json: { ...DLR, status, "err-code": code } })).toMatchObject({
      receipts: [{ status: word }],
    });
  });

  test("where there is a signature secret, a receipt without signature is refused", () => {
    const signed = connector({ signature_method: "sha256" }, { signature_secret: "shh" });
    expect(readCallback(signed, { json: DLR })).toMatchObject({ kind: "refused", status: 401 });
  });

  test("a receipt is believed if it is signed as the connector's signature_method says, and by no other method", () => {
    const signed = connector({ signature_method: "sha256" }, { signature_secret: "shh" });
    const text = Object.entries(DLR)
      .sort(([one], [other]) => (one < other ? -1 : 1))
      .map(([name, value]) => `&${name}=${value}`)
      .join("");
    const sig = createHmac("sha256", "shh").update(text).digest("hex");
    expect(readCallback(signed, { json: { ...DLR, sig } })).toMatchObject({ kind: "receipts" });
    const md5 = createHash("md5").update(`${text}shh`).digest("hex");
    expect(readCallback(signed, { json: { ...DLR, sig: md5 } })).toMatchObject({ kind: "refused" });
  });

  test("trying it asks for the balance", async () => {
    gateway().behave({ status: 200, body: { value: 10.28 } });
    expect(await httpConnectorKind.check(connector(), createHeldClock())).toMatchObject({ ok: true });
    expect(gateway().requests[0]).toMatchObject({
      method: "GET",
      path: "/account/get-balance",
      query: { api_key: "key1", api_secret: "s&" },
    });
  });
});
