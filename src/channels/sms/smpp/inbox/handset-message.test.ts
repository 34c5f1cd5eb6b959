import { expect, test } from "bun:test";
import { encodeGsm7 } from "../../../../core/sms/gsm7.ts";
import { ESM_UDHI, type ShortMessage, TAG } from "../wire/pdu.ts";
import { readHandsetMessage } from "./handset-message.ts";

function message(over: Partial<ShortMessage> = {}): ShortMessage {
  return {
    source: { ton: 1, npi: 1, address: "919876543210" },
    destination: { ton: 0, npi: 1, address: "56161" },
    esmClass: 0,
    validityPeriod: "",
    registeredDelivery: 0,
    dataCoding: 0,
    shortMessage: Buffer.from("hello"),
    tlvs: new Map(),
    ...over,
  };
}

const read = (over: Partial<ShortMessage>, alphabet: "gsm7" | "ascii" | "latin1" = "gsm7") =>
  readHandsetMessage(message(over), { alphabet });

const ucs2 = (text: string) => Buffer.from(text, "utf16le").swap16();

test.each([
  ["the default alphabet, GSM-7", 0, encodeGsm7("{€} é@_"), "{€} é@_", "gsm7"],
  ["Latin-1", 3, Buffer.from("grüße @", "latin1"), "grüße @", "gsm7"],
  ["IA5", 1, Buffer.from("a@b"), "a@b", "gsm7"],
  ["UCS-2", 8, ucs2("नमस्ते 😀"), "नमस्ते 😀", "ucs2"],
  ["UCS-2 with half a character behind", 8, Buffer.concat([ucs2("ab"), Buffer.of(0)]), "ab", "ucs2"],
  ["Cyrillic", 6, Buffer.of(0xd0, 0xd1), "аб", "ucs2"],
  ["GSM-7 with a class", 0xf1, encodeGsm7("@"), "@", "gsm7"],
  ["GSM-7 that is shown at once", 0x10, encodeGsm7("@"), "@", "gsm7"],
  ["GSM-7 that is shown at once, by the later scheme", 0xf0, encodeGsm7("@"), "@", "gsm7"],
  ["UCS-2 with a class", 0x19, ucs2("ж"), "ж", "ucs2"],
  ["octets", 4, Buffer.of(1, 254), "01fe", "gsm7"],
  ["octets with a class", 0xf5, Buffer.of(1, 254), "01fe", "gsm7"],
  ["octets of a group without a meaning here", 0x40, Buffer.of(1, 254), "01fe", "gsm7"],
  ["nothing", 0, Buffer.alloc(0), "", "gsm7"],
  ["IA5 with a NUL behind", 1, Buffer.from("STOP\0"), "STOP", "gsm7"],
  ["UCS-2 with a NUL behind", 8, ucs2("STOP\0"), "STOP", "ucs2"],
] as const)("text in %s is read", (_, dataCoding, shortMessage, text, encoding) => {
  expect(read({ dataCoding, shortMessage })).toMatchObject({ text, encoding });
});

/** `रोकें` in the locking shift table of Hindi, then `।` from its single shift table. */
const STOP_IN_HINDI = Buffer.of(0x44, 0x5d, 0x15, 0x59, 0x01, 0x1b, 0x19);

test.each([
  ["the default alphabet", 0, [0x25, 1, 6, 0x24, 1, 6], "रोकें।"],
  ["GSM-7 with a class", 0xf1, [0x24, 1, 6, 0x25, 1, 6], "रोकें।"],
  ["a long message", 0, [0, 3, 7, 2, 1, 0x25, 1, 6, 0x24, 1, 6], "रोकें।"],
  ["the locking shift table only", 0, [0x25, 1, 6], "रोकेंङ"],
  ["the single shift table only", 0, [0x24, 1, 6], "DÑΩY£।"],
  ["a table that is not named", 0, [0x25, 0, 0x24, 0], "DÑΩY£Θ"],
])("a phone's national language shift tables are heeded: %s", (_, dataCoding, elements, text) => {
  const shortMessage = Buffer.concat([Buffer.of(elements.length, ...elements), STOP_IN_HINDI]);
  expect(read({ esmClass: ESM_UDHI, dataCoding, shortMessage })).toMatchObject({ text, encoding: "gsm7" });
});

test("a text that is too short for the header that it is said to begin with is read as a text", () => {
  expect(read({ esmClass: ESM_UDHI, shortMessage: Buffer.from("STOP") })).toMatchObject({ text: "STOP" });
  expect(read({ esmClass: ESM_UDHI, shortMessage: Buffer.of(2, 0, 0) })).toMatchObject({ text: "" });
});

test("no table is heeded in a text that is not in septets", () => {
  const shortMessage = Buffer.concat([Buffer.of(3, 0x25, 1, 6), ucs2("ok")]);
  expect(read({ esmClass: ESM_UDHI, dataCoding: 8, shortMessage }).text).toBe("ok");
});

test("the default alphabet is the connector's", () => {
  const shortMessage = Buffer.from("é@", "latin1");
  expect(read({ shortMessage }, "latin1").text).toBe("é@");
  expect(read({ shortMessage }).text).not.toBe("é@");
});

test("a text in message_payload is read where short_message holds none", () => {
  const tlvs = new Map([[TAG.messagePayload, Buffer.from("long")]]);
  for (const empty of ["", "\0", " "])
    expect(read({ shortMessage: Buffer.from(empty), tlvs }).text).toBe("long");
  expect(read({ shortMessage: Buffer.from("short"), tlvs }).text).toBe("short");
  expect(read({ shortMessage: Buffer.from(" ") }).text).toBe(" ");
});

test.each([
  ["GSM-7", 0, Buffer.from("a".repeat(160)), 1],
  ["GSM-7", 0, encodeGsm7("€".repeat(160)), 3],
  ["UCS-2", 8, ucs2("न".repeat(70)), 1],
  ["UCS-2", 8, ucs2("न".repeat(135)), 3],
  ["Cyrillic", 6, Buffer.alloc(71, 0xd0), 2],
] as const)(
  "a long text that the SMSC has joined counts the segments that it came in: %s",
  (_, dataCoding, payload, segments) => {
    const tlvs = new Map([[TAG.messagePayload, payload]]);
    const [joined, part] = [Buffer.alloc(0), Buffer.of(5, 0, 3, 1, 2, 1, 0x41)];
    expect(read({ dataCoding, shortMessage: joined, tlvs }).segments).toBe(segments);
    expect(read({ esmClass: ESM_UDHI, shortMessage: part }).segments).toBe(1);
  },
);

test.each([
  ["8-bit", Buffer.of(5, 0, 3, 0xab, 2, 1), { reference: 0xab, total: 2, number: 1 }],
  ["16-bit", Buffer.of(6, 8, 4, 0xab, 0xcd, 3, 3), { reference: 0x1_abcd, total: 3, number: 3 }],
  [
    "8-bit behind ports",
    Buffer.of(11, 5, 4, 0, 1, 0, 2, 0, 3, 7, 2, 2),
    { reference: 7, total: 2, number: 2 },
  ],
] as const)("a part is known by a %s header", (_, header, part) => {
  const shortMessage = Buffer.concat([header, Buffer.from("text")]);
  expect(read({ esmClass: ESM_UDHI, shortMessage })).toMatchObject({ text: "text", part });
});

test("a part is known by SAR parameters", () => {
  const tlvs = new Map<number, Uint8Array>([
    [TAG.sarReference, Uint8Array.of(1, 2)],
    [TAG.sarTotal, Uint8Array.of(2)],
    [TAG.sarNumber, Uint8Array.of(1)],
  ]);
  expect(read({ tlvs }).part).toEqual({ reference: 0x2_0102, total: 2, number: 1 });
});

test.each([
  ["one of one", Buffer.of(5, 0, 3, 1, 1, 1)],
  ["part 3 of 2", Buffer.of(5, 0, 3, 1, 2, 3)],
  ["part 0", Buffer.of(5, 0, 3, 1, 2, 0)],
  ["a header longer than the message", Buffer.of(200, 0, 3, 1, 2)],
  ["an element longer than the header", Buffer.of(3, 0, 9, 1)],
])("a header that says %s makes a whole message, and no crash", (_, header) => {
  const shortMessage = Buffer.concat([header, Buffer.from("x")]);
  expect(read({ esmClass: ESM_UDHI, shortMessage })).not.toHaveProperty("part");
});

test.each([
  [{ ton: 1, address: "14155550123" }, "+14155550123"],
  [{ ton: 0, address: "14155550123" }, "+14155550123"],
  [{ ton: 0, address: "9876543210" }, "+919876543210"],
  [{ ton: 1, address: "9876543210" }, "+9876543210"],
  [{ ton: 2, address: "4155550123" }, "4155550123"],
  [{ ton: 0, address: "+447911123456" }, "+447911123456"],
  [{ ton: 3, address: "56161" }, "56161"],
  [{ ton: 5, address: "Acme " }, "ACME"],
] as const)("the address %j is written %s", ({ ton, address }, written) => {
  expect(read({ source: { ton, npi: 1, address } }).from).toBe(written);
  expect(read({ destination: { ton, npi: 1, address } }).to).toBe(written);
});

test.each([
  [{ ton: 2, address: "4155550123" }, "1", "+14155550123"],
  [{ ton: 2, address: "6505550123" }, "1", "+16505550123"],
  [{ ton: 2, address: "14155550123" }, "1", "+14155550123"],
  [{ ton: 2, address: "07911 123456" }, "44", "+447911123456"],
  [{ ton: 2, address: "9876543210" }, "91", "+919876543210"],
  [{ ton: 2, address: "919876543210" }, "91", "+919876543210"],
  [{ ton: 2, address: "+919876543210" }, "91", "+919876543210"],
  [{ ton: 2, address: "+447911123456" }, "44", "+447911123456"],
  [{ ton: 2, address: "00447911123456" }, "44", "+447911123456"],
  [{ ton: 2, address: "56161" }, "1", "56161"],
  [{ ton: 2, address: "4155550123456789" }, "1", "4155550123456789"],
  [{ ton: 1, address: "14155550123" }, "44", "+14155550123"],
  [{ ton: 0, address: "14155550123" }, "44", "+14155550123"],
] as const)(
  "the address %j of an SMSC that leaves out the country code %s is written %s",
  (address, countryCode, written) => {
    const whole = { npi: 1, ...address };
    const read = readHandsetMessage(message({ source: whole, destination: whole }), {
      alphabet: "gsm7",
      countryCode,
    });
    expect([read.from, read.to]).toEqual([written, written]);
  },
);

test("a message has the same fingerprint again, and another has another", () => {
  const { fingerprint } = read({});
  expect(read({}).fingerprint).toBe(fingerprint);
  const tlvs = new Map([[TAG.userMessageReference, Uint8Array.of(0, 1)]]);
  const others: Partial<ShortMessage>[] = [
    { shortMessage: Buffer.from("hallo") },
    { source: { ton: 1, npi: 1, address: "919876543211" } },
    { dataCoding: 3 },
    { tlvs },
  ];
  const prints = others.map((other) => read(other).fingerprint);
  expect(new Set([fingerprint, ...prints]).size).toBe(others.length + 1);
});
