import { expect, test } from "bun:test";
import { decodeGsm7 } from "../../../core/gsm7.ts";
import type { SmsContent } from "../../../core/message.ts";
import type { OutgoingSms } from "../../channel.ts";
import { decodeShortMessage } from "./pdu.ts";
import { readSmppConfig } from "./smpp-config.ts";
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
    parts: [],
    attempt: 1,
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
  return Array.from({ length: made.segments }, (_, i) => decodeShortMessage(made.body(i, 60_000))!);
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

test("the sender is the message's, else the resolved, else the request's, else the connector's, else none", () => {
  const content = { from: "REQUST", resolved: { from: "RESLVD" } };
  const config = { source_addr: "CONFIG" };
  expect(submits({ from: "MESSGE", content }, config)[0]?.source.address).toBe("MESSGE");
  expect(submits({ content }, config)[0]?.source.address).toBe("RESLVD");
  expect(submits({ content: { from: "REQUST" } }, config)[0]?.source.address).toBe("REQUST");
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
    gsm7_data_coding: 1,
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

test("references of different messages differ, as far as 16 bits can", () => {
  const references = new Set(
    Array.from({ length: 1000 }, (_, i) => {
      const messageId = `0198f7c2-1111-7000-8000-${i.toString(16).padStart(12, "0")}`;
      const [submit] = submits({ messageId, text: "ж".repeat(100) }, { concat: "udh16" });
      return Buffer.from(submit!.shortMessage.subarray(3, 5)).toString("hex");
    }),
  );
  expect(references.size).toBeGreaterThan(950);
});

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

test("without DLT ids there are no TLVs", () => {
  expect(submits()[0]?.tlvs.size).toBe(0);
});

test.each([
  ["smpp.too_long", { text: "ж".repeat(67 * 255 + 1) }],
  ["smpp.invalid_sender", { from: "bad\nsender" }],
  ["smpp.invalid_dlt_id", { content: { dltEntityId: "1 1" } }],
])("%s is refused", (code, over) => {
  expect(plan(over)).toMatchObject({ error: { code } });
});

test("255 segments are still sent", () => {
  expect(submits({ text: "ж".repeat(67 * 255) })).toHaveLength(255);
});
