import { describe, expect, test } from "bun:test";
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

const ACCEPTED = answer("PENDING", "PENDING_ACCEPTED");
const gateway = withGateway(ACCEPTED);

function answer(groupName: string, name: string) {
  const status = { groupId: 1, groupName, id: 26, name, description: `${name} it is` };
  return { status: 200, body: { messages: [{ messageId: "m-1", status, destination: "919876543210" }] } };
}

const connector = (over: Record<string, unknown> = {}, secrets: Record<string, string> = {}) =>
  httpConnector({ provider: "infobip", base_url: gateway().url, ...over }, { api_key: "key-1", ...secrets });

const report = (messageId: string, groupName: string, name: string) => ({
  messageId,
  to: "919876543210",
  status: { groupName, name },
  error: {
    name: groupName === "DELIVERED" ? "NO_ERROR" : "EC_ABSENT_SUBSCRIBER",
    description: "Absent Subscriber",
  },
});

describe("infobip", () => {
  test("a message is sent as documented", async () => {
    const { channel } = openHttpRig(connector());
    const outcome = await channel.send(outgoingSms(), never);
    expect(outcome.parts).toEqual([{ kind: "sent", providerMessageIds: ["m-1"] }]);
    expect(gateway().requests[0]).toMatchObject({ method: "POST", path: "/sms/3/messages" });
    expect(gateway().requests[0]?.headers.authorization).toBe("App key-1");
    expect(gateway().requests[0]?.json).toEqual({
      messages: [
        {
          sender: "ACMEIN",
          destinations: [{ to: "919876543210" }],
          content: { text: "Ihr Code ist 4711 & gilt 5 Minuten." },
          options: {
            validityPeriod: { amount: 600, timeUnit: "SECONDS" },
            regional: {
              indiaDlt: {
                principalEntityId: "1101160000000000001",
                contentTemplateId: "1107160000000000001",
              },
            },
          },
          webhooks: { delivery: { url: CALLBACK_URL } },
        },
      ],
    });
    await channel.stop();
  });

  test("what a message does not have is left out", async () => {
    const { channel } = openHttpRig(connector(), { publicUrl: null });
    const { from: _, ...rest } = outgoingSms({ content: { channel: "sms" } });
    await channel.send(rest, never);
    expect(gateway().requests[0]?.json.messages[0]).toEqual({
      destinations: [{ to: "919876543210" }],
      content: { text: "Ihr Code ist 4711 & gilt 5 Minuten." },
      options: { validityPeriod: { amount: 600, timeUnit: "SECONDS" } },
    });
    await channel.stop();
  });

  test.each([
    [answer("REJECTED", "REJECTED_DESTINATION"), "rejected", "infobip.rejected_destination", true],
    [
      { status: 400, body: { requestError: { serviceException: { text: "Bad request" } } } },
      "rejected",
      "http.400",
      true,
    ],
    [{ status: 401, body: { description: "Invalid login" } }, "deferred", "http.401", false],
    [{ status: 429, body: {} }, "deferred", "http.429", false],
    [{ status: 500, body: {} }, "deferred", "http.500", true],
  ] as const)("%p is %s", async (given, kind, code, counts) => {
    gateway().behave(given);
    const { channel } = openHttpRig(connector());
    expect(await channel.send(outgoingSms(), never)).toMatchObject({
      parts: [{ kind, error: { code } }],
      countsAsAttempt: counts,
    });
    await channel.stop();
  });

  test("several reports come in one callback, and one that reached only the operator is not final", () => {
    const results = [
      report("m-1", "DELIVERED", "DELIVERED_TO_HANDSET"),
      report("m-2", "DELIVERED", "DELIVERED_TO_OPERATOR"),
      report("m-3", "UNDELIVERABLE", "UNDELIVERABLE_NOT_DELIVERED"),
      report("m-4", "EXPIRED", "EXPIRED_EXPIRED"),
      { to: "a report of nothing" },
    ];
    const reading = readCallback(connector(), { json: { results } });
    expect(reading.kind === "receipts" && reading.receipts).toMatchObject([
      { providerMessageId: "m-1", status: "delivered" },
      { providerMessageId: "m-2", status: "sent" },
      {
        providerMessageId: "m-3",
        status: "undelivered",
        error: { code: "infobip.ec_absent_subscriber", message: "Absent Subscriber" },
      },
      { providerMessageId: "m-4", status: "expired" },
    ]);
  });

  test("where a password is agreed, callbacks without it are refused", () => {
    const agreed = connector({ callback_username: "ib" }, { callback_password: "pw" });
    const json = { results: [report("m-1", "DELIVERED", "DELIVERED_TO_HANDSET")] };
    expect(readCallback(agreed, { json })).toMatchObject({ kind: "refused", status: 401 });
    const headers = { Authorization: `Basic ${btoa("ib:pw")}` };
    expect(readCallback(agreed, { json, headers })).toMatchObject({ kind: "receipts" });
  });

  test("trying it asks for the balance", async () => {
    gateway().behave({ status: 200, body: { balance: 1, currency: "EUR" } });
    expect(await httpConnectorKind.check(connector(), createHeldClock())).toMatchObject({ ok: true });
    expect(gateway().requests[0]).toMatchObject({ method: "GET", path: "/account/1/balance" });
  });
});
