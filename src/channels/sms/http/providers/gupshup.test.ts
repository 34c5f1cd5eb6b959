import { describe, expect, test } from "bun:test";
import { createHeldClock } from "../../../../../test/fakes/held-clock.ts";
import {
  httpConnector,
  never,
  openHttpRig,
  outgoingSms,
  readCallback,
  withGateway,
} from "../../../../../test/fakes/http-rig.ts";
import { httpConnectorKind } from "../http-connector.ts";

const ID = "3562707498794989059-328736121207676738";
const ACCEPTED = { status: 200, body: `success | 919876543210 | ${ID}\n` };
const gateway = withGateway(ACCEPTED);

const connector = () =>
  httpConnector({ provider: "gupshup", base_url: gateway().url, userid: "2000000001" }, { password: "p=w" });

describe("gupshup", () => {
  test("a message is sent as documented", async () => {
    const { channel } = openHttpRig(connector());
    const outcome = await channel.send(outgoingSms({ text: "नमस्ते" }), never);
    expect(outcome.parts).toEqual([{ kind: "sent", providerMessageIds: [ID] }]);
    expect(gateway().requests[0]).toMatchObject({ method: "POST", path: "/GatewayAPI/rest" });
    expect(gateway().requests[0]?.fields).toEqual({
      method: "SendMessage",
      v: "1.1",
      auth_scheme: "plain",
      format: "text",
      userid: "2000000001",
      password: "p=w",
      send_to: "919876543210",
      msg: "नमस्ते",
      msg_type: "UNICODE_TEXT",
      mask: "ACMEIN",
      principalEntityId: "1101160000000000001",
      dltTemplateId: "1107160000000000001",
    });
    await channel.stop();
  });

  test.each([
    [
      { status: 200, body: "error | 102 | Authentication failed due to invalid userId or password." },
      "deferred",
      false,
    ],
    [{ status: 200, body: "error | 105 | The phone number is invalid." }, "rejected", true],
    [{ status: 200, body: "error | 633 | TEMPLATE_NOT_MATCHED" }, "rejected", true],
    [{ status: 200, body: "error | 670 | SCRUBBING_FAILED" }, "deferred", true],
    [{ status: 200, body: "<html>Maintenance</html>" }, "unconfirmed", true],
    [{ status: 503, body: "" }, "deferred", true],
  ] as const)("%p is %s", async (answer, kind, counts) => {
    gateway().behave(answer);
    const { channel } = openHttpRig(connector());
    expect(await channel.send(outgoingSms(), never)).toMatchObject({
      parts: [{ kind }],
      countsAsAttempt: counts,
    });
    await channel.stop();
  });

  test("the words of a refusal are kept", async () => {
    gateway().behave({ status: 200, body: "error | 105 | The phone number is invalid." });
    const { channel } = openHttpRig(connector());
    expect((await channel.send(outgoingSms(), never)).parts[0]).toMatchObject({
      error: { code: "gupshup.105", message: "The phone number is invalid." },
    });
    await channel.stop();
  });

  test.each([
    ["SUCCESS", "SUCCESS", "000", "delivered"],
    ["FAIL", "ABSENT_SUBSCRIBER", "001", "undelivered"],
    ["FAIL", "DND_FAIL", "006", "failed"],
    ["FAIL", "EXPIRED", "010", "expired"],
  ])("a report %p, %p is %s", (status, cause, errCode, word) => {
    const query = new URLSearchParams({ externalId: ID, status, cause, errCode }).toString();
    expect(readCallback(connector(), { method: "GET", query })).toMatchObject({
      receipts: [{ providerMessageId: ID, status: word }],
    });
  });

  test("reports come as a list in a form too", () => {
    const event = (externalId: string, eventType: string, cause: string) => ({
      externalId,
      eventType,
      cause,
    });
    const response = JSON.stringify([event("1", "DELIVERED", "SUCCESS"), event("2", "FAILED", "OTHER")]);
    expect(readCallback(connector(), { form: { response } })).toMatchObject({
      receipts: [
        { providerMessageId: "1", status: "delivered" },
        { providerMessageId: "2", status: "undelivered" },
      ],
    });
  });

  test("trying it connects", async () => {
    expect(await httpConnectorKind.check(connector(), createHeldClock())).toMatchObject({ ok: true });
  });
});
