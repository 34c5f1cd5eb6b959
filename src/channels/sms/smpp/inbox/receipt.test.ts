import { expect, test } from "bun:test";
import type { ShortMessage } from "../wire/pdu.ts";
import { isReceipt, readReceipt } from "./receipt.ts";

const nobody = { ton: 1, npi: 1, address: "" };

function deliver(over: Partial<ShortMessage>): ShortMessage {
  return {
    source: nobody,
    destination: nobody,
    esmClass: 0x04,
    validityPeriod: "",
    registeredDelivery: 0,
    dataCoding: 0,
    shortMessage: Buffer.alloc(0),
    tlvs: new Map(),
    ...over,
  };
}

const byText = (text: string, over: Partial<ShortMessage> = {}) =>
  readReceipt(deliver({ shortMessage: Buffer.from(text, "latin1"), ...over }));

const standard = (stat: string, err = "000") =>
  `id:0123456789 sub:001 dlvrd:001 submit date:2601151200 done date:2601151201 stat:${stat} err:${err} text:Your code is 4711`;

function byTlv(state: number, { id = "7A3F\0", code }: { id?: string; code?: number } = {}) {
  const tlvs = new Map<number, Uint8Array>([
    [0x001e, Buffer.from(id)],
    [0x0427, Uint8Array.of(state)],
  ]);
  if (code !== undefined) tlvs.set(0x0423, Uint8Array.of(3, code >> 8, code & 255));
  return readReceipt(deliver({ tlvs }));
}

test.each([
  ["SCHEDULED", 0, "sent"],
  ["ENROUTE", 1, "sent"],
  ["DELIVRD", 2, "delivered"],
  ["EXPIRED", 3, "expired"],
  ["DELETED", 4, "undelivered"],
  ["UNDELIV", 5, "undelivered"],
  ["ACCEPTD", 6, "sent"],
  ["UNKNOWN", 7, "sent"],
  ["REJECTD", 8, "failed"],
  ["SKIPPED", 9, "undelivered"],
] as const)("%s, and message_state %p, is %p", (word, state, status) => {
  expect(byText(standard(word))).toMatchObject({ providerMessageId: "0123456789", status });
  expect(byTlv(state)).toMatchObject({ providerMessageId: "7A3F", status });
});

test.each([
  ["delivrd", "delivered"],
  ["Delivered", "delivered"],
  ["UNDELIVERABLE", "undelivered"],
  ["2", "delivered"],
  ["WHATEVER", "sent"],
] as const)("the spelling %p is %p", (stat, status) => {
  expect(byText(standard(stat))?.status).toBe(status);
});

test.each(["id:0123456789 stat:DELIVRD\0", "stat:DELIVRD id:0123456789\0"])(
  "a NUL at the end of the text belongs to no word: %p",
  (text) => {
    expect(byText(text)).toMatchObject({ providerMessageId: "0123456789", status: "delivered" });
    expect(byText(text)?.raw).toBe("id:0123456789 stat:DELIVRD");
  },
);

test("ASCII under the data coding of a message in UCS-2 is read as ASCII", () => {
  const found = { providerMessageId: "0123456789", status: "delivered" };
  expect(byText(standard("DELIVRD"), { dataCoding: 8 })).toMatchObject(found);
  expect(byText("ID:0123456789 STAT:DELIVRD", { dataCoding: 8 })).toMatchObject(found);
});

test("a receipt that is not a success says why", () => {
  expect(byText(standard("UNDELIV", "027"))?.error).toEqual({
    code: "receipt.undeliv",
    message: "the SMSC reported UNDELIV, error 027",
  });
  expect(byTlv(3, { code: 27 })?.error).toEqual({
    code: "receipt.expired",
    message: "the SMSC reported EXPIRED, error 27",
  });
  expect(byText(standard("DELIVRD"))?.error).toBeUndefined();
});

test.each(["635", "650", "195"])("the DLT code %p is failed, whatever the state, and named", (err) => {
  for (const stat of ["UNDELIV", "REJECTD", "UNKNOWN", "DELETED"]) {
    expect(byText(standard(stat, err))).toMatchObject({ status: "failed", error: { code: `dlt.${err}` } });
  }
  expect(byTlv(5, { code: Number(err) })).toMatchObject({ status: "failed", error: { code: `dlt.${err}` } });
  expect(byText(standard("DELIVRD", err))?.status).toBe("delivered");
});

test("TLVs are believed before text", () => {
  const tlvs = new Map<number, Uint8Array>([
    [0x001e, Buffer.from("tlv-id")],
    [0x0427, Uint8Array.of(5)],
  ]);
  expect(byText(standard("DELIVRD"), { tlvs })).toMatchObject({
    providerMessageId: "tlv-id",
    status: "undelivered",
  });
});

test("a TLV that never leaves ENROUTE does not hide how it ended, unless only the customer's text says so", () => {
  const enRoute = new Map<number, Uint8Array>([
    [0x001e, Buffer.from("tlv-id")],
    [0x0427, Uint8Array.of(1)],
  ]);
  for (const [stat, status] of [
    ["DELIVRD", "delivered"],
    ["EXPIRED", "expired"],
    ["ACCEPTD", "sent"],
  ] as const)
    expect(byText(standard(stat), { tlvs: enRoute })).toMatchObject({ providerMessageId: "tlv-id", status });
  expect(byText("stat:DELIVRD", { tlvs: enRoute })?.status).toBe("sent");
});

test("what the TLVs lack is taken from the text", () => {
  const idOnly = new Map([[0x001e, Buffer.from("tlv-id\0")]]);
  expect(byText("stat:EXPIRED err:001 text:", { tlvs: idOnly })).toMatchObject({
    providerMessageId: "tlv-id",
    status: "expired",
  });
  const stateOnly = new Map([[0x0427, Uint8Array.of(2)]]);
  expect(byText("id:77 sub:001", { tlvs: stateOnly })).toMatchObject({
    providerMessageId: "77",
    status: "delivered",
  });
});

test.each([
  ["keys in another order", "stat:DELIVRD id:42 err:000", "42"],
  ["capital keys", "ID:42 SUB:001 DLVRD:001 STAT:DELIVRD ERR:000", "42"],
  ["blanks after the colons", "id: 42 sub: 001 stat: DELIVRD err: 000", "42"],
  ["dates with seconds", "id:42 submit date:260115120000 done date:260115120103 stat:DELIVRD", "42"],
  ["missing keys", "id:42 stat:DELIVRD", "42"],
  ["letters as error", "id:42 stat:DELIVRD err:N/A text:", "42"],
  ["an empty error", "id:42 err: stat:DELIVRD text:", "42"],
  ["commas between", "id:42,sub:001,dlvrd:001,stat:DELIVRD,err:000", "42"],
  ["an id with dashes", "id:6f1c-77ab_9.x stat:DELIVRD", "6f1c-77ab_9.x"],
  ["no blank before the text", "id:42 stat:DELIVRD err:000Text:stat:UNDELIV", "42"],
])("a text with %s is read", (_, text, providerMessageId) => {
  expect(byText(text)).toMatchObject({ providerMessageId, status: "delivered" });
});

test("a text in UCS-2, declared or not, with a byte order mark, or in message_payload is read", () => {
  const ucs2 = Buffer.from(standard("DELIVRD"), "utf16le").swap16();
  const found = { providerMessageId: "0123456789", status: "delivered" };
  expect(readReceipt(deliver({ shortMessage: ucs2, dataCoding: 8 }))).toMatchObject(found);
  expect(readReceipt(deliver({ shortMessage: ucs2 }))).toMatchObject(found);
  const marked = Buffer.concat([Buffer.from("feff", "hex"), ucs2]);
  expect(readReceipt(deliver({ shortMessage: marked, dataCoding: 8 }))).toMatchObject(found);
  const payload = new Map([[0x0424, Buffer.from(standard("DELIVRD"))]]);
  expect(readReceipt(deliver({ tlvs: payload }))).toMatchObject(found);
  const withHeader = Buffer.concat([Buffer.from("0500030a0101", "hex"), Buffer.from(standard("DELIVRD"))]);
  expect(readReceipt(deliver({ esmClass: 0x44, shortMessage: withHeader }))).toMatchObject(found);
  // The type of the message that it is about, whose header it does not have.
  expect(byText(standard("DELIVRD"), { esmClass: 0x44 })).toMatchObject(found);
});

test("a receipt whose TLV and text give different ids tells both, the TLV's first", () => {
  const tlvs = (id: string) => new Map([[0x001e, Buffer.from(id)]]);
  const ids = (over: Partial<ShortMessage>) => {
    const { providerMessageId, otherId } = byText(standard("DELIVRD"), over) ?? {};
    return [providerMessageId, otherId];
  };
  expect(ids({ tlvs: tlvs("7A3F") })).toEqual(["7A3F", "0123456789"]);
  expect(ids({ tlvs: tlvs("0123456789") })).toEqual(["0123456789", undefined]);
  expect(ids({})).toEqual(["0123456789", undefined]);
});

test("a receipt tells whether only its text shows it to be one", () => {
  expect(byText(standard("DELIVRD"), { esmClass: 0x08 })).toMatchObject({ isByText: true });
  expect(byText(standard("DELIVRD"))).not.toHaveProperty("isByText");
  const tlvs = new Map([[0x001e, Buffer.from("1")]]);
  expect(byText(standard("DELIVRD"), { esmClass: 0, tlvs })).not.toHaveProperty("isByText");
});

test("a text in UCS-2 with the lower octet first is read, declared or not, with a byte order mark or without", () => {
  const low = Buffer.from(standard("DELIVRD"), "utf16le");
  for (const shortMessage of [low, Buffer.concat([Buffer.of(0xff, 0xfe), low])])
    for (const dataCoding of [0, 8])
      expect(readReceipt(deliver({ shortMessage, dataCoding }))).toMatchObject({
        providerMessageId: "0123456789",
        status: "delivered",
      });
});

test("a state written into the customer's own text is not believed", () => {
  expect(byText("id:42 sub:001 text:id:43 stat:DELIVRD")).toMatchObject({
    providerMessageId: "42",
    status: "sent",
  });
});

test("an intermediate notice ends nothing", () => {
  expect(byText(standard("UNDELIV"), { esmClass: 0x20 })).toMatchObject({ status: "sent" });
});

test("the raw receipt has the provider's words and nothing of the message", () => {
  expect(byText(standard("DELIVRD"))?.raw).toBe(
    "id:0123456789 sub:001 dlvrd:001 submit date:2601151200 done date:2601151201 stat:DELIVRD err:000",
  );
  expect(byTlv(2, { code: 8 })?.raw).toBe(
    "receipted_message_id=7A3F message_state=02 network_error_code=030008",
  );
  const tlvs = new Map<number, Uint8Array>([
    [0x001e, Buffer.from("x")],
    [0x0427, Uint8Array.of(2)],
  ]);
  expect(byText("Your id:4711 is ready", { tlvs })?.raw).toBe("receipted_message_id=x message_state=02");
  expect(byText(`id:${"9".repeat(600)} stat:DELIVRD`)?.raw).toHaveLength(255);
});

test("a receipt that names no message is none", () => {
  expect(byText("stat:DELIVRD err:000")).toBeUndefined();
  expect(byText("id: stat:DELIVRD")).toBeUndefined();
  expect(byText("")).toBeUndefined();
});

test("only type or TLV make a receipt: any handset can write the text of one", () => {
  const text = Buffer.from(standard("DELIVRD"));
  expect(isReceipt(deliver({ esmClass: 0, shortMessage: text }))).toBe(false);
  expect(isReceipt(deliver({ esmClass: 0x04 }))).toBe(true);
  expect(isReceipt(deliver({ esmClass: 0x20 }))).toBe(true);
  expect(isReceipt(deliver({ esmClass: 0x08 }))).toBe(false);
  expect(isReceipt(deliver({ esmClass: 0x08, shortMessage: text }))).toBe(true);
  expect(isReceipt(deliver({ esmClass: 0, shortMessage: text }), true)).toBe(true);
  for (const other of ["My id:1 stat:DELIVRD", "id:1 stat:FINE", "id:1", "id: stat:DELIVRD"])
    expect(isReceipt(deliver({ esmClass: 0x08, shortMessage: Buffer.from(other) }), true)).toBe(false);
  expect(isReceipt(deliver({ esmClass: 0, tlvs: new Map([[0x001e, Buffer.from("1")]]) }))).toBe(true);
});

test.each([
  ["+919876543210", "ACMECO", "+919876543210"],
  ["919876543210", "919000000001", "919876543210"],
  ["ACMECO", "919876543210", "919876543210"],
  ["567678", "919876543210", "919876543210"],
  ["ACMECOMPANY", "919876543210", "919876543210"],
  ["ACMECO", "", "ACMECO"],
  ["", "ACMECO", undefined],
  ["", "919000000001", undefined],
  ["9198765XXXXX", "14155550123", "9198765XXXXX"],
  ["*******3210", "14155550123", "*******3210"],
  ["5f4dcc3b5aa765d61d83", "14155550123", "5f4dcc3b5aa765d61d83"],
])("a receipt from %p to %p is about %p", (from, to, recipient) => {
  const at = (address: string) => ({ ton: 1, npi: 1, address });
  const receipt = byText(standard("UNDELIV", "633"), { source: at(from), destination: at(to) });
  expect(receipt?.recipient).toBe(recipient);
  if (recipient?.endsWith("919876543210")) expect(receipt?.error?.code).toBe("dlt.633");
  const unmarked = byText(standard("UNDELIV"), { source: at(from), destination: at(to), esmClass: 0 });
  expect(unmarked?.recipient ?? "").toBe(from);
});
