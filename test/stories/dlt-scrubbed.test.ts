/** What an operator's DLT scrubbing refuses fails, and the caller reads why and what to do about it. */
import { afterEach, beforeEach, expect, test } from "bun:test";
import { admin } from "../admin.ts";
import { onBothStores } from "../both-stores.ts";
import { startFakeGateway } from "../fakes/fake-gateway.ts";
import { type FakeSmsc, startFakeSmsc } from "../fakes/fake-smsc.ts";
import type { SmscDial } from "../fakes/smsc-dial.ts";
import { type HeldPostrider, startHeldPostrider } from "../held-postrider.ts";
import { connectSmsc, type LiveSms, openLiveSms } from "../live-sms.ts";

const INDIAN = "+919812345678";
const FOREIGN = "+14155550101";

onBothStores(() => {
  let postrider: HeldPostrider;
  let smsc: FakeSmsc;

  beforeEach(async () => {
    [postrider, smsc] = await Promise.all([startHeldPostrider(), startFakeSmsc()]);
  });

  afterEach(async () => {
    await smsc.close();
    await postrider.close();
  });

  const MISMATCH = {
    code: "dlt.633",
    message:
      "DLT scrubbing: text does not match the template; import the template again and compare word by word",
  };

  /** An account whose template and sender are registered. */
  async function openIndia(connectors: readonly string[]): Promise<LiveSms> {
    const live = await openLiveSms(postrider, { connectors });
    const ids = { account_id: live.accountId, dlt_entity_id: "1101172974420810001" };
    await admin(postrider, "/senders", { ...ids, sender_id: "ACMEIN" });
    const { template_id } = await admin<{ template_id: string }>(postrider, "/sms-templates", {
      ...ids,
      name: "registered",
      body: "Your table is ready.",
      dlt_template_id: "1107160000000000001",
    });
    return { ...live, send: (to) => live.send(to, { template_id, from: "ACMEIN" }) };
  }

  async function scrubbed(dial: SmscDial, config: Record<string, unknown> = {}) {
    Object.assign(smsc.dial, dial);
    const live = await openIndia([await connectSmsc(postrider, smsc, config)]);
    const message = await live.send(INDIAN);
    expect(await postrider.reached(message, "failed", "undelivered", "delivered")).toBe("failed");
    const response = await fetch(`${postrider.url}${message.path}/events`, {
      headers: { Authorization: `Bearer ${message.apiKey}` },
    });
    const { data: events } = (await response.json()) as { data: Record<string, unknown>[] };
    return { entries: await live.timeline(message), events };
  }

  test("of a registered text only the values are written plainly, since operators compare the rest", async () => {
    const settings = { sms_transliterate: "true" };
    const live = await openLiveSms(postrider, { connectors: [await connectSmsc(postrider, smsc)], settings });
    const ids = { account_id: live.accountId, dlt_entity_id: "1101172974420810001" };
    await admin(postrider, "/senders", { ...ids, sender_id: "ACMEIN" });
    const textFor = async (body: string, value: string, to = INDIAN) => {
      const registered = {
        ...ids,
        name: body,
        body,
        dlt_template_id: `11071600${smsc.submits.length}0000001`,
      };
      const { template_id } = await admin<{ template_id: string }>(postrider, "/sms-templates", registered);
      const before = smsc.submits.length;
      await live.send(to, { template_id, from: "ACMEIN", variables: { 1: value } });
      await postrider.passUntil(() => smsc.submits.length > before, 60_000);
      const { dataCoding, shortMessage } = smsc.submits.at(-1)!;
      return new TextDecoder(dataCoding === 8 ? "utf-16be" : "latin1").decode(shortMessage);
    };
    expect(await textFor("Your – {#var#} is ready", "“table”")).toBe("Your – “table” is ready");
    expect(await textFor("Your – {#var#} is ready", "“table”", FOREIGN)).toBe('Your - "table" is ready');
    expect(await textFor("Your {#var#} is ready", "“table”")).toBe('Your "table" is ready');
    // As "Rs." it would be longer than operators take.
    const longest = `₹${"5".repeat(39)}`;
    expect(await textFor("Pay {#var#} now", longest)).toBe(`Pay ${longest} now`);
  });

  test("the same numbers mean something else outside India, unless the connector says so", async () => {
    Object.assign(smsc.dial, { ...receipt, receiptError: "633" });
    const abroad = await openLiveSms(postrider, { connectors: [await connectSmsc(postrider, smsc)] });
    const message = await abroad.send(FOREIGN);
    expect(await postrider.reached(message, "failed", "undelivered")).toBe("undelivered");
    expect((await abroad.timeline(message)).at(-1)?.error?.code).toBe("receipt.undeliv");
    smsc.dial.submitStatus = 650;
    const refused = await abroad.send(FOREIGN);
    expect(await postrider.reached(refused, "failed")).toBe("failed");
    expect((await abroad.timeline(refused)).at(-1)?.error?.code).toBe("smpp.0x0000028a");
  });

  const receipt: SmscDial = { receipts: "after", receiptForm: "text", receiptState: "UNDELIV" };

  test("a receipt with a scrub code fails the message, with the hint on its timeline and in its event", async () => {
    const { entries, events } = await scrubbed({ ...receipt, receiptError: "0633" });
    expect(entries.at(-1)).toMatchObject({
      kind: "receipt",
      status: "failed",
      error: MISMATCH,
    });
    expect(String(entries.at(-1)?.detail?.raw)).toContain("err:0633");
    expect(events.at(-1)).toMatchObject({ type: "sms.failed", status: "failed", error: MISMATCH });
  });

  test("an operator's own code is read as the connector says", async () => {
    const { entries } = await scrubbed(
      { ...receipt, receiptError: "5308" },
      { dlt_codes: { "5308": "633" } },
    );
    expect(entries.at(-1)?.error).toEqual(MISMATCH);
  });

  test("an SMSC that scrubs before it answers is understood, and the message is not sent again", async () => {
    const { entries } = await scrubbed({ submitStatus: 633 });
    expect(entries.at(-1)).toMatchObject({ kind: "attempt", status: "failed", error: MISMATCH });
    expect(smsc.submits).toHaveLength(1);
  });

  test.each([
    [5308, "5308"],
    [0x4a1, "0x000004a1"],
    [0x4a1, "1185"],
  ])(
    "an operator's own code in command_status (%p) is read as the connector says (%p)",
    async (submitStatus, code) => {
      const { entries } = await scrubbed({ submitStatus }, { dlt_codes: { [code]: "633" } });
      expect(entries.at(-1)).toMatchObject({ kind: "attempt", status: "failed", error: MISMATCH });
      expect(smsc.submits).toHaveLength(1);
    },
  );

  test("an operator's own code does not change what a command_status of SMPP means", async () => {
    const { entries } = await scrubbed({ submitStatus: 0x0b }, { dlt_codes: { "11": "650" } });
    expect(entries.at(-1)?.error?.code).toBe("smpp.0x0000000b");
  });

  test.each([
    ["at once", { provider: "gupshup", userid: "1", password: "p" }, "error | 0633 | TEMPLATE_NOT_MATCHED"],
    [
      "at once, in its own code",
      { provider: "gupshup", userid: "1", password: "p", dlt_codes: { "314": "633" } },
      "error | 314 | not allowed",
    ],
  ] as const)(
    "an HTTP gateway that refuses it %s is understood, and asked no second time",
    async (_, config, body) => {
      const gateway = await startFakeGateway({ status: 200, body });
      const { connector_id } = await admin<{ connector_id: string }>(postrider, "/connectors", {
        kind: "http",
        name: "gateway",
        config: { ...config, base_url: gateway.url },
      });
      const live = await openIndia([connector_id]);
      const message = await live.send(INDIAN);
      expect(await postrider.reached(message, "failed", "sent")).toBe("failed");
      expect((await live.timeline(message)).at(-1)).toMatchObject({ kind: "attempt", error: MISMATCH });
      expect(gateway.requests).toHaveLength(1);
      await gateway.close();
    },
  );

  test("an HTTP gateway's report in its own code is read as the connector says", async () => {
    const gateway = await startFakeGateway({ status: 202, body: "0: Accepted for delivery" });
    const { connector_id, callback_path } = await admin<{ connector_id: string; callback_path: string }>(
      postrider,
      "/connectors",
      {
        kind: "http",
        name: "kannel",
        config: {
          provider: "kannel",
          base_url: gateway.url,
          username: "u",
          password: "p",
          dlt_codes: { A07: "633" },
        },
      },
    );
    const live = await openLiveSms(postrider, { connectors: [connector_id] });
    const message = await live.send(FOREIGN);
    await postrider.reached(message, "sent");
    const report = new URLSearchParams({
      id: message.path.split("/").at(-1) ?? "",
      status: "2",
      answer: "stat:UNDELIV err:A07",
    });
    expect((await fetch(`${postrider.url}${callback_path}?${report}`)).status).toBe(200);
    expect(await postrider.reached(message, "failed", "undelivered")).toBe("failed");
    expect((await live.timeline(message)).at(-1)).toMatchObject({ kind: "receipt", error: MISMATCH });
    await gateway.close();
  });
});
