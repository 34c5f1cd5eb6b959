import { describe, expect, test } from "bun:test";
import { createHeldClock } from "../../../../../test/fakes/held-clock.ts";
import {
  CALLBACK_URL,
  httpConnector,
  MESSAGE_ID,
  never,
  openHttpRig,
  outgoingSms,
  readCallback,
  withGateway,
} from "../../../../../test/fakes/http-rig.ts";
import { keptPort } from "../../../../../test/fakes/kept-port.ts";
import { httpConnectorKind } from "../http-connector.ts";

const ACCEPTED = { status: 202, body: "0: Accepted for delivery" };

const gateway = withGateway(ACCEPTED);

const connector = (over: Record<string, unknown> = {}) =>
  httpConnector(
    { provider: "kannel", base_url: gateway().url, username: "acme", ...over },
    { password: "pw&1" },
  );

describe("kannel", () => {
  test("a message goes to sendsms, and its receipts find it by our own id", async () => {
    const { channel } = openHttpRig(connector({ smsc: "airtel" }));
    const outcome = await channel.send(outgoingSms({ remainingMs: 150_000 }), never);
    expect(outcome.parts).toEqual([{ kind: "sent", providerMessageIds: [MESSAGE_ID] }]);
    expect(gateway().requests[0]).toMatchObject({ method: "GET", path: "/cgi-bin/sendsms", body: "" });
    expect(gateway().requests[0]?.query).toEqual({
      username: "acme",
      password: "pw&1",
      from: "ACMEIN",
      to: "+919876543210",
      text: "Ihr Code ist 4711 & gilt 5 Minuten.",
      charset: "UTF-8",
      coding: "0",
      validity: "2",
      smsc: "airtel",
      "dlr-mask": "19",
      "dlr-url": `${CALLBACK_URL}?id=${MESSAGE_ID}&to=919876543210&status=%d&answer=%A`,
      "meta-data": "?smpp?dlt_entity_id=1101160000000000001&dlt_template_id=1107160000000000001",
    });
    await channel.stop();
  });

  test("text beyond GSM-7 is sent as UCS-2, and no receipt is asked for while we know no public address", async () => {
    const { channel } = openHttpRig(connector(), { publicUrl: null });
    const outcome = await channel.send(outgoingSms({ text: "नमस्ते" }), never);
    expect(outcome.detail).toEqual({ encoding: "ucs2", segments: 1 });
    expect(gateway().requests[0]?.query).toMatchObject({ text: "नमस्ते", coding: "2" });
    expect(gateway().requests[0]?.query).not.toHaveProperty("dlr-url");
    expect(gateway().requests[0]?.query).not.toHaveProperty("dlr-mask");
    await channel.stop();
  });

  test.each([
    [202, "3: Queued for later delivery", "sent", true],
    [200, "0: Accepted for delivery", "sent", true],
    [200, "Wrong sender", "rejected", true],
    [400, "Sender missing and no global set, rejected", "rejected", true],
    [403, "Number(s) has/have been denied by white- and/or black-lists.", "rejected", true],
    [403, "Authorization failed for sendsms", "deferred", false],
    [503, "Temporal failure, try again later.", "deferred", true],
  ] as const)("%p %p is %s", async (status, body, kind, counts) => {
    gateway().behave({ status, body });
    const { channel } = openHttpRig(connector());
    expect(await channel.send(outgoingSms(), never)).toMatchObject({
      parts: [{ kind }],
      countsAsAttempt: counts,
    });
    await channel.stop();
  });

  test.each([
    ["1", "id:1 sub:001 dlvrd:001 stat:DELIVRD err:000 text:", "delivered", undefined],
    ["2", "id:1 stat:UNDELIV err:633 text:x", "failed", "dlt.633"],
    ["2", "id:1 stat:UNDELIV err:027", "undelivered", "kannel.027"],
    ["2", "id:1 stat:EXPIRED err:031 text:y", "expired", "kannel.031"],
    ["2", "id:1 stat:rejectd err:0DA", "failed", "kannel.0da"],
    ["2", "id:1 stat:EXPIRED err:000 text:9", "expired", "receipt.expired"],
    ["2", "id:1 stat:DELETED", "undelivered", "receipt.undelivered"],
    ["1", "id:1 done date:2611281000 text:stat:EXPIRED", "delivered", undefined],
    ["16", "NACK/0x0000000b/Invalid Destination Address", "failed", "kannel.0x0000000b"],
    ["2", "id:1 err:027 submit date:2611281000 stat:UNDELIV", "undelivered", "kannel.027"],
    ["2", "id:1 stat:UNDELIV err:027 ", "undelivered", "kannel.027"],
    // What bearerbox itself says, seen with 1.4.5.
    ["16", "NACK/validity expired", "expired", "receipt.expired"],
    ["16", "NACK/receiver in black-list", "failed", "receipt.failed"],
    ["16", "NACK/no SMSC", "failed", "receipt.failed"],
    ["34", "", "expired", "receipt.expired"],
    ["8", "ACK/", "sent", undefined],
  ])("a receipt %p %p is %s", (status, answer, word, code) => {
    const query = new URLSearchParams({ id: MESSAGE_ID, to: "919876543210", status, answer }).toString();
    const reading = readCallback(connector(), { method: "GET", query });
    expect(reading).toMatchObject({ receipts: [{ providerMessageId: MESSAGE_ID, status: word }] });
    const [receipt] = reading.kind === "receipts" ? reading.receipts : [];
    expect(receipt?.error?.code).toBe(code);
  });

  test("the words of the SMSC are the error's, whether it refused the message or reported on it", () => {
    const wordsOf = (status: string, answer: string) => {
      const query = new URLSearchParams({ id: MESSAGE_ID, to: "919876543210", status, answer }).toString();
      const reading = readCallback(connector(), { method: "GET", query });
      return reading.kind === "receipts" ? reading.receipts[0]?.error?.message : undefined;
    };
    expect(wordsOf("16", "NACK/0x0000000b/Invalid Destination Address")).toBe("Invalid Destination Address");
    expect(wordsOf("16", "NACK/validity expired")).toBe("validity expired");
    expect(wordsOf("16", "NACK/Retries Exceeded")).toBe("Retries Exceeded");
    expect(wordsOf("2", "id:1 sub:001 stat:UNDELIV err:027 text:x")).toBe("UNDELIV");
    expect(wordsOf("2", "id:1 err:027 stat:EXPIRED")).toBe("EXPIRED");
  });

  test("outside India an error is only what the SMSC's own network calls so", () => {
    const answer = "id:1 stat:UNDELIV err:633";
    const query = new URLSearchParams({
      id: MESSAGE_ID,
      to: "4915112345678",
      status: "2",
      answer,
    }).toString();
    expect(readCallback(connector(), { method: "GET", query })).toMatchObject({
      receipts: [{ status: "undelivered", error: { code: "kannel.633" } }],
    });
  });

  test("trying it connects, and says that this is all", async () => {
    const { ok, detail } = await httpConnectorKind.check(connector(), createHeldClock());
    expect(ok).toBe(true);
    expect(detail).toContain("no request that tries the credentials");
    expect(gateway().requests).toEqual([]);
    const nobody = connector({ base_url: `http://127.0.0.1:${await keptPort()}` });
    expect(await httpConnectorKind.check(nobody, createHeldClock())).toMatchObject({ ok: false });
  });
});
