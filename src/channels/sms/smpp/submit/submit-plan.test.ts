import { expect, test } from "bun:test";
import type { SmsContent } from "../../../../core/messages/message.ts";
import { partReference } from "../../../../core/receipts/short-reference.ts";
import { decodeGsm7, gsm7Length } from "../../../../core/sms/gsm7.ts";
import type { OutgoingSms } from "../../../channel.ts";
import { readSmppConfig } from "../smpp-config.ts";
import { decodeShortMessage } from "../wire/pdu.ts";
import { chainHash } from "./dlt-tlvs.ts";
import { planSubmit } from "./submit-plan.ts";

function plan(
  over: Partial<Omit<OutgoingSms, "content">> & { content?: Partial<SmsContent> } = {},
  config: Record<string, unknown> = {},
) {
  const read = readSmppConfig({
    id: "c",
    name: "c",
    kind: "smpp",
    config: { host: "h", system_id: "s", ...config },
    secrets: {},
    isEnabled: true,
    createdAt: 0,
  });
  if (read instanceof Error) throw read;
  const message: OutgoingSms = {
    channel: "sms",
    messageId: "0198f7c2-1111-7000-8000-000000000001",
    accountId: "a",
    claim: 1,
    flow: 0,
    parts: [],
    remainingMs: 60_000,
    createdAt: 0,
    to: "+919876543210",
    text: "Hi",
    ...over,
    content: { channel: "sms", ...over.content },
  };
  return planSubmit(message, read);
}

function submits(...args: Parameters<typeof plan>) {
  const made = plan(...args);
  if ("error" in made) throw new Error(made.error.code);
  return Array.from({ length: made.submits }, (_, i) => decodeShortMessage(made.body(i, 60_000))!);
}

test.each([
  ["PSTRDR", { ton: 5, npi: 0, address: "PSTRDR" }],
  ["AX-1234", { ton: 5, npi: 0, address: "AX-1234" }],
  ["+14155550100", { ton: 1, npi: 1, address: "14155550100" }],
  ["14155550100", { ton: 1, npi: 1, address: "14155550100" }],
  ["612345", { ton: 3, npi: 0, address: "612345" }],
])("the sender %p gets the TON and NPI that fit", (from, source) => {
  expect(submits({ from })[0]?.source).toEqual(source);
});

test("the sender is the message's, else the connector's, else none", () => {
  const config = { source_addr: "CONFIG" };
  expect(submits({ from: "MESSGE" }, config)[0]?.source.address).toBe("MESSGE");
  expect(submits({}, config)[0]?.source.address).toBe("CONFIG");
  expect(submits()[0]?.source).toEqual({ ton: 0, npi: 0, address: "" });
});

test("a connector may fix TON, NPI, the plus, data codings and registered_delivery", () => {
  const config = {
    source_ton: 2,
    source_npi: 8,
    dest_ton: 0,
    dest_npi: 0,
    dest_plus: true,
    default_data_coding: 1,
    registered_delivery: 17,
    validity_period: false,
  };
  expect(submits({ from: "PSTRDR" }, config)[0]).toMatchObject({
    source: { ton: 2, npi: 8, address: "PSTRDR" },
    destination: { ton: 0, npi: 0, address: "+919876543210" },
    dataCoding: 1,
    registeredDelivery: 17,
    validityPeriod: "",
  });
});

test("GSM-7 goes out unpacked with coding 0", () => {
  const [submit] = submits({ text: "Price: 5€ [net]" });
  expect(submit?.dataCoding).toBe(0);
  expect(decodeGsm7(submit!.shortMessage)).toBe("Price: 5€ [net]");
});

test("everything else goes out in UCS-2, big-endian, with coding 8", () => {
  const [submit] = submits({ text: "नमस्ते ₹5 😀" });
  expect(submit?.dataCoding).toBe(8);
  expect(new TextDecoder("utf-16be").decode(submit!.shortMessage)).toBe("नमस्ते ₹5 😀");
});

const segmentsOf = (text: string, config = {}) => submits({ text }, config);
const header = (octets: Uint8Array, length: number) => [...octets.subarray(0, length)];

test("a long text carries the 8-bit header on every segment, and the segments join to it", () => {
  const text = "abcdefghij€".repeat(40);
  const segments = segmentsOf(text);
  expect(segments.length).toBe(4);
  const reference = segments[0]!.shortMessage[3]!;
  for (const [i, segment] of segments.entries()) {
    expect(segment.esmClass).toBe(0x40);
    expect(header(segment.shortMessage, 6)).toEqual([5, 0, 3, reference, 4, i + 1]);
    expect(segment.shortMessage.length).toBeLessThanOrEqual(6 + 153);
  }
  expect(segments.map((s) => decodeGsm7(s.shortMessage.subarray(6))).join("")).toBe(text);
});

test("with a 16-bit reference the header has seven octets", () => {
  const segments = segmentsOf("ж".repeat(100), { concat: "udh16" });
  const [high, low] = segments[0]!.shortMessage.subarray(3);
  expect(header(segments[1]!.shortMessage, 7)).toEqual([6, 8, 4, high!, low!, 2, 2]);
  for (const { shortMessage } of segments) expect(shortMessage.length).toBeLessThanOrEqual(140);
});

test("by SAR parameters the segments carry their number beside the text, and no header", () => {
  const text = "x".repeat(400);
  const segments = segmentsOf(text, { concat: "sar" });
  expect(segments.length).toBe(3);
  const reference = segments[0]!.tlvs.get(0x020c);
  expect(reference).toHaveLength(2);
  for (const [i, { esmClass, shortMessage, tlvs }] of segments.entries()) {
    expect(esmClass).toBe(0);
    expect(shortMessage.length).toBeLessThanOrEqual(152);
    expect(tlvs.get(0x020c)).toEqual(reference!);
    expect([...tlvs.get(0x020e)!, ...tlvs.get(0x020f)!]).toEqual([3, i + 1]);
  }
  expect(segments.map((s) => decodeGsm7(s.shortMessage)).join("")).toBe(text);
  expect(segmentsOf("short", { concat: "sar" })[0]!.tlvs.size).toBe(0);
});

test("a reference of 16 bits is the same in the header and in SAR parameters, and has all its bits", () => {
  let seen = 0;
  for (let n = 0; n < 200; n++) {
    const long = { text: "x".repeat(200), messageId: `0198f7c2-1111-7000-8000-${`${n}`.padStart(12, "0")}` };
    const [inHeader] = submits(long, { concat: "udh16" });
    const [inParameters] = submits(long, { concat: "sar" });
    const reference = inParameters!.tlvs.get(0x020c)!;
    expect(inHeader!.shortMessage.subarray(3, 5)).toEqual(Buffer.from(reference));
    seen |= Buffer.from(reference).readUInt16BE();
  }
  expect(seen).toBe(0xffff);
});

test("in message_payload a long text goes whole, and what it costs is still told", () => {
  const text = "नमस्ते ".repeat(30);
  const [submit, ...others] = segmentsOf(text, { concat: "payload" });
  expect(others).toEqual([]);
  expect(submit!.shortMessage).toHaveLength(0);
  expect(new TextDecoder("utf-16be").decode(submit!.tlvs.get(0x0424))).toBe(text);
  expect(plan({ text }, { concat: "payload" })).toMatchObject({ segments: 4, submits: 1 });
  const [short] = segmentsOf("short", { concat: "payload" });
  expect(short!.tlvs.size).toBe(0);
  expect(decodeGsm7(short!.shortMessage)).toBe("short");
});

test.each([
  ["ascii", "Pay $5 @ shop_1 {now}", "plain", 0],
  ["ascii", "Café", "wide", 8],
  ["ascii", "tick `", "wide", 8],
  ["latin1", "Café @ £5", "plain", 0],
  ["latin1", "á", "wide", 8],
  ["latin1", "5 €", "wide", 8],
  ["gsm7", "5 € Δ", "septets", 0],
])("where the default alphabet is %s, %p goes out %s", (default_alphabet, text, form, dataCoding) => {
  const [submit] = segmentsOf(text, { default_alphabet });
  const octets = Buffer.from(submit!.shortMessage);
  const written = {
    plain: () => octets.toString("latin1"),
    wide: () => new TextDecoder("utf-16be").decode(octets),
    septets: () => decodeGsm7(octets),
  }[form]!;
  expect(submit!.dataCoding).toBe(dataCoding);
  expect(written()).toBe(text);
});

test("whatever the alphabet, no segment is longer on the air than a handset takes", () => {
  const text = "{[~]}".repeat(60);
  for (const default_alphabet of ["gsm7", "ascii", "latin1"]) {
    const segments = segmentsOf(text, { default_alphabet });
    expect(segments).toHaveLength(4);
    const texts = segments.map(({ shortMessage }) => {
      const octets = Buffer.from(shortMessage.subarray(6));
      return default_alphabet === "gsm7" ? decodeGsm7(octets) : octets.toString("latin1");
    });
    expect(texts.join("")).toBe(text);
    for (const part of texts) expect(gsm7Length(part)).toBeLessThanOrEqual(153);
  }
});

test.each(["udh8", "udh16", "sar"])(
  "by %s, references of different messages differ as far as its bits can",
  (concat) => {
    const references = new Set(
      Array.from({ length: 1000 }, (_, i) => {
        const messageId = `0198f7c2-1111-7000-8000-${i.toString(16).padStart(12, "0")}`;
        const [submit] = submits({ messageId, text: "ж".repeat(100) }, { concat });
        const { shortMessage, tlvs } = submit!;
        const reference = tlvs.get(0x020c) ?? shortMessage.subarray(3, concat === "udh8" ? 4 : 5);
        return Buffer.from(reference).toString("hex");
      }),
    );
    expect(references.size).toBeGreaterThan(concat === "udh8" ? 240 : 950);
  },
);

test("DLT ids go on every segment, resolved ones first, under the connector's tags", () => {
  const content = { dltEntityId: "11", dltTemplateId: "22", resolved: { dltTemplateId: "33" } };
  const config = { dlt_entity_tag: 0x1501, dlt_template_tag: 0x1500, dlt_nul_terminated: true };
  const segments = submits({ text: "x".repeat(200), content }, config);
  expect(segments).toHaveLength(2);
  for (const { tlvs } of segments) {
    expect([...tlvs].map(([tag, value]) => [tag, Buffer.from(value).toString()])).toEqual([
      [0x1501, "11\0"],
      [0x1500, "33\0"],
    ]);
  }
});

test("parameters of a segment, DLT ids and a reference go side by side", () => {
  const content = { dltEntityId: "11", dltTemplateId: "22" };
  const config = { concat: "sar", user_message_reference: true };
  const segments = submits({ text: "x".repeat(200), content }, config);
  expect(segments.map(({ tlvs }) => [...tlvs.keys()].sort())).toEqual(
    segments.map(() => [0x0204, 0x020c, 0x020e, 0x020f, 0x1400, 0x1401].sort()),
  );
});

test("a number of another country gets none of them: other SMSCs use these tags for other things", () => {
  const content = { dltEntityId: "1101172974420810001", dltTemplateId: "1107" };
  const config = { dlt_chain_ids: ["entity"] };
  expect(submits({ to: "+14155550101", content }, config)[0]?.tlvs.size).toBe(0);
});

test("without DLT ids there are no TLVs", () => {
  expect(submits({}, { dlt_chain_ids: ["1101172974420810001"] })[0]?.tlvs.size).toBe(0);
});

test("the chain's hash follows the ids, with the message's own entity in its place; the order is the connector's", () => {
  const content = { dltEntityId: "1101172974420810001", dltTemplateId: "1107" };
  const config = { dlt_chain_ids: ["entity", "1101172974420830004"], dlt_order: "template_first" };
  const [submit] = submits({ content }, config);
  expect([...submit!.tlvs].map(([tag, value]) => [tag, Buffer.from(value).toString()])).toEqual([
    [0x1401, "1107"],
    [0x1400, "1101172974420810001"],
    [0x1402, "c0c951afca257c5b87c3da535c09112080483f35b7e6faf35e2428b3b526b694"],
  ]);
});

test("a chain that lacks its entity has no hash", () => {
  expect(chainHash(["entity", "1101172974420830004"], undefined)).toBeUndefined();
  expect(chainHash([], "1101172974420810001")).toBeUndefined();
  expect(chainHash(["1101172974420810001", "1101172974420830004"], undefined)).toStartWith("c0c951af");
});

test.each([
  ["smpp.too_long", { text: "ж".repeat(67 * 255 + 1) }],
  ["smpp.invalid_sender", { from: "bad\nsender" }],
  ["smpp.invalid_dlt_id", { content: { dltEntityId: "1 1" } }],
])("%s is refused", (code, over) => {
  expect(plan(over)).toMatchObject({ error: { code } });
});

test("by SMPP 3.3 a text goes out without any TLV, and a message that needs some is refused in words", () => {
  const config = { interface_version: "3.3" };
  const text = "x".repeat(200);
  for (const concat of ["udh8", "udh16"])
    for (const { tlvs } of submits({ text }, { ...config, concat })) expect(tlvs.size).toBe(0);
  const content = { dltEntityId: "11" };
  expect(submits({ to: "+14155550101", content }, config)[0]?.tlvs.size).toBe(0);
  expect(plan({ content }, config)).toMatchObject({
    error: { code: "smpp.no_tlvs", message: expect.stringContaining("SMPP 3.3") },
  });
});

test("255 segments are still sent", () => {
  expect(submits({ text: "ж".repeat(67 * 255) })).toHaveLength(255);
});

test("a reference goes with every segment where the connector sends one, each its own, the same on every attempt", () => {
  const text = "x".repeat(200);
  const config = { user_message_reference: true };
  const references = () =>
    submits({ text }, config).map(({ tlvs }) => Buffer.from(tlvs.get(0x0204)!).readUInt16BE());
  const messageId = "0198f7c2-1111-7000-8000-000000000001";
  expect(references()).toEqual([partReference(messageId, 0), partReference(messageId, 1)]);
  expect(references()).toEqual(references());
  expect(submits({ text })[0]!.tlvs.has(0x0204)).toBe(false);
});
