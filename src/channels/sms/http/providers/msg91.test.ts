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

const ACCEPTED = { status: 200, body: { message: "376364", type: "success" } };
const gateway = withGateway(ACCEPTED);

const connector = (over: Record<string, unknown> = {}) =>
  httpConnector({ provider: "msg91", base_url: gateway().url, ...over }, { authkey: "key-1" });

const { text: _, ...untold } = outgoingSms();
const content = { ...outgoingSms().content };
delete (content as { text?: string }).text;
/** A template that is not registered with us has no text here. */
const withoutText = { ...untold, content };

const REPORT = {
  requestId: "376364",
  number: "919876543210",
  status: "1",
  desc: "DELIVERED",
  failedReason: "",
};

describe("msg91", () => {
  test("the provider renders the text itself, and the connector says so", () => {
    expect(httpConnectorKind.rendersTemplates?.(connector())).toBe(true);
    const other = httpConnector({ provider: "twilio", account_sid: "AC1" }, { auth_token: "t" });
    expect(httpConnectorKind.rendersTemplates?.(other)).toBe(false);
  });

  test("a message goes out by template and variables, without its text", async () => {
    const template_ids = { "1107160000000000001": "65f0" };
    const { channel } = openHttpRig(connector({ template_ids, variable_prefix: "var" }));
    const outcome = await channel.send(withoutText, never);
    expect(outcome.parts).toEqual([{ kind: "sent", providerMessageIds: ["376364"] }]);
    expect(gateway().requests[0]).toMatchObject({ method: "POST", path: "/api/v5/flow" });
    expect(gateway().requests[0]?.headers.authkey).toBe("key-1");
    expect(gateway().requests[0]?.json).toEqual({
      template_id: "65f0",
      short_url: "0",
      sender: "ACMEIN",
      recipients: [{ mobiles: "919876543210", var1: "4711", var2: "5" }],
    });
    await channel.stop();
  });

  test("without an entry for the template its DLT id is tried, and without one nothing", async () => {
    const { channel } = openHttpRig(connector());
    await channel.send(withoutText, never);
    expect(gateway().requests[0]?.json.template_id).toBe("1107160000000000001");
    const { dltTemplateId: __, ...bare } = content;
    expect(await channel.send({ ...withoutText, content: bare }, never)).toMatchObject({
      parts: [{ kind: "rejected", error: { code: "http.missing_value" } }],
    });
    expect(gateway().requests.length).toBe(1);
    await channel.stop();
  });

  test.each([
    [{ status: 200, body: { type: "error", message: "template id missing" } }, "rejected", true],
    [{ status: 400, body: { type: "error", message: "invalid mobile" } }, "rejected", true],
    [{ status: 401, body: { type: "error", message: "Unauthorized", code: "201" } }, "deferred", false],
    [{ status: 200, body: { type: "error", message: "IP not whitelisted", code: 418 } }, "deferred", false],
    [{ status: 429, body: "slow down", headers: { "Retry-After": "7" } }, "deferred", false],
  ] as const)("%p is %s", async (answer, kind, counts) => {
    gateway().behave(answer);
    const { channel } = openHttpRig(connector());
    expect(await channel.send(withoutText, never)).toMatchObject({
      parts: [{ kind }],
      countsAsAttempt: counts,
    });
    await channel.stop();
  });

  test.each([
    [{ ...REPORT }, "delivered", undefined],
    [
      { ...REPORT, status: "2", desc: "FAILED", failedReason: "Absent subscriber" },
      "undelivered",
      "receipt.undelivered",
    ],
    [
      { ...REPORT, status: "16", desc: "REJECTED", failedReason: "633 template mismatch" },
      "failed",
      "dlt.633",
    ],
    [{ ...REPORT, status: "9", desc: "words nobody knows" }, "failed", "receipt.failed"],
  ])("a report %p is %s", (json, word, code) => {
    const reading = readCallback(connector(), { json });
    expect(reading).toMatchObject({ receipts: [{ providerMessageId: "376364", status: word }] });
    expect(reading.kind === "receipts" && reading.receipts[0]?.error?.code).toBe(code);
  });

  test("a report of version 2 comes as JSON in a form, several requests at a time", () => {
    const report = (requestId: string, desc: string) => ({ requestId, report: [{ desc, status: "?" }] });
    const data = JSON.stringify([report("1", "DELIVERED"), report("2", "FAILED")]);
    expect(readCallback(connector(), { form: { data } })).toMatchObject({
      receipts: [
        { providerMessageId: "1", status: "delivered" },
        { providerMessageId: "2", status: "undelivered" },
      ],
    });
  });

  test("trying it connects", async () => {
    expect(await httpConnectorKind.check(connector(), createHeldClock())).toMatchObject({ ok: true });
    expect(gateway().requests).toEqual([]);
  });
});
