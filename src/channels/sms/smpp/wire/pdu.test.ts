import { expect, test } from "bun:test";
import { toPieces } from "../submit/multipart.ts";
import { createOctetReader, encodeTlvs } from "./octets.ts";
import {
  COMMAND,
  decodeDataSm,
  decodeMessageId,
  decodeQueryAnswer,
  decodeShortMessage,
  encodeBind,
  encodePdu,
  encodeQuery,
  encodeShortMessage,
  type ShortMessage,
} from "./pdu.ts";

/** Octets written by hand from the field tables of the specification. */
const octets = (...lines: string[]) => Buffer.from(lines.join("").replaceAll(" ", ""), "hex");
const ascii = (text: string) => Buffer.from(text, "latin1").toString("hex");

test("bind_transceiver, field by field (§4.1.5)", () => {
  const body = encodeBind({
    systemId: "SMPP3TEST",
    password: "secret08",
    systemType: "SUBMIT1",
    interfaceVersion: 0x34,
    address: { ton: 1, npi: 1, address: "" },
  });
  expect(encodePdu({ commandId: COMMAND.bindTransceiver, sequence: 1, body })).toEqual(
    octets(
      "0000002f 00000009 00000000 00000001",
      "534d50503354455354 00", // system_id
      "7365637265743038 00", // password
      "5355424d495431 00", // system_type
      "34", // interface_version
      "01 01 00", // addr_ton, addr_npi, address_range
    ),
  );
});

test("enquire_link is a header and nothing else (§4.11)", () => {
  expect(encodePdu({ commandId: COMMAND.enquireLink, sequence: 0x7fffffff })).toEqual(
    octets("00000010 00000015 00000000 7fffffff"),
  );
});

test("generic_nack carries status and sequence (§4.3)", () => {
  expect(encodePdu({ commandId: COMMAND.genericNack, status: 3, sequence: 9 })).toEqual(
    octets("00000010 80000000 00000003 00000009"),
  );
});

const submit: ShortMessage = {
  source: { ton: 5, npi: 0, address: "PSTRDR" },
  destination: { ton: 1, npi: 1, address: "919876543210" },
  esmClass: 0x40,
  validityPeriod: "000000010000000R",
  registeredDelivery: 1,
  dataCoding: 0,
  shortMessage: octets("050003a70201", ascii("Hi")),
  tlvs: new Map([
    [0x1400, Buffer.from("1101234567890123456")],
    [0x1401, Buffer.from("1107987654321098765")],
  ]),
};

const submitBody = octets(
  "00", // service_type
  `05 00 ${ascii("PSTRDR")} 00`,
  `01 01 ${ascii("919876543210")} 00`,
  "40 00 00", // esm_class, protocol_id, priority_flag
  "00", // schedule_delivery_time
  `${ascii("000000010000000R")} 00`,
  "01 00 00 00", // registered_delivery, replace_if_present_flag, data_coding, sm_default_msg_id
  `08 050003a70201 ${ascii("Hi")}`,
  `1400 0013 ${ascii("1101234567890123456")}`,
  `1401 0013 ${ascii("1107987654321098765")}`,
);

test("submit_sm with header and DLT parameters, field by field (§4.4.1)", () => {
  expect(encodeShortMessage(submit)).toEqual(submitBody);
});

test("a service_type is the first field of submit_sm (§5.2.11)", () => {
  expect(encodeShortMessage({ ...submit, serviceType: "CMT" })).toEqual(
    Buffer.concat([octets(`${ascii("CMT")} 00`), submitBody.subarray(1)]),
  );
});

test("a priority_flag is the third octet behind the addresses (§5.2.14)", () => {
  const at = submitBody.indexOf(octets("40 00 00")) + 2;
  const body = Buffer.from(submitBody);
  body[at] = 3;
  expect(encodeShortMessage({ ...submit, priorityFlag: 3 })).toEqual(body);
});

test("what was encoded is decoded to the same", () => {
  expect(decodeShortMessage(submitBody)).toEqual(submit);
});

test("a body cut anywhere before its text is no message, one cut within that has the rest, and one cut within its TLVs loses only the cut one", () => {
  const textEnd = submitBody.length - 2 * (4 + 19);
  const textStart = textEnd - submit.shortMessage.length;
  for (let length = 0; length < textStart; length++) {
    expect(decodeShortMessage(submitBody.subarray(0, length))).toBeUndefined();
  }
  for (let length = textStart; length < submitBody.length; length++) {
    const cut = decodeShortMessage(submitBody.subarray(0, length));
    expect(Buffer.from(cut?.shortMessage ?? "")).toEqual(
      submitBody.subarray(textStart, Math.min(length, textEnd)),
    );
    expect(cut?.tlvs.size).toBe(length < textEnd + 23 ? 0 : 1);
  }
});

test("a data_sm is read by its own layout (§4.7.1)", () => {
  const body = octets(
    "00",
    `01 01 ${ascii("919876543210")} 00`,
    `05 00 ${ascii("PSTRDR")} 00`,
    "04 00 00", // esm_class, registered_delivery, data_coding
    `001e 0004 ${ascii("abc")} 00`,
    "0427 0001 02",
  );
  expect(decodeDataSm(body)).toMatchObject({ esmClass: 4, source: { address: "919876543210" } });
  expect(decodeDataSm(body)?.tlvs.get(0x0427)).toEqual(Buffer.of(2));
  expect(decodeDataSm(body.subarray(0, 10))).toBeUndefined();
});

test.each([
  [octets(`${ascii("0AbC")} 00`), "0AbC"],
  [octets(ascii("no-nul")), "no-nul"],
  [octets(`${ascii("id")} 00 0423 0001 00`), "id"],
  [octets("00"), ""],
  [octets(), ""],
  [octets(ascii("A".repeat(300))), "A".repeat(255)],
])("message_id of a submit_sm_resp is taken as written, up to 255 characters (%#)", (body, id) => {
  expect(decodeMessageId(body)).toBe(id);
});

test("a TLV value of any length, also none, is written with its length", () => {
  const tlvs = new Map([
    [0x0424, Buffer.alloc(300, 0x41)],
    [0x130c, Buffer.alloc(0)],
  ]);
  expect(encodeTlvs(tlvs)).toEqual(octets(`0424 012c ${"41".repeat(300)} 130c 0000`));
  expect(decodeShortMessage(encodeShortMessage({ ...submit, tlvs }))).toEqual({ ...submit, tlvs });
});

test("a field behind the end of a body is 0 or empty, and tells that the body was too short", () => {
  const read = (field: (reader: ReturnType<typeof createOctetReader>) => unknown) => {
    const reader = createOctetReader(Buffer.alloc(0));
    return [reader.isShort(), field(reader), reader.isShort()];
  };
  expect(read((reader) => reader.u8())).toEqual([false, 0, true]);
  expect(read((reader) => reader.cString())).toEqual([false, "", true]);
  expect(read((reader) => reader.octets(1).length)).toEqual([false, 0, true]);
  expect(read((reader) => reader.tlvs().size)).toEqual([false, 0, false]);
});

test("a NUL within a text is left out, since the fields behind it would be read from there", () => {
  const address = { ton: 0, npi: 0, address: "" };
  const bind = { systemId: "a", password: "secret", systemType: "", interfaceVersion: 0x34, address };
  expect(encodeBind({ ...bind, password: "sec\0ret" })).toEqual(encodeBind(bind));
});

test("bind_transmitter and bind_receiver differ from bind_transceiver in their command only, also in 3.3 (§4.1.1, §4.1.3)", () => {
  const body = encodeBind({
    systemId: "a",
    password: "b",
    systemType: "",
    interfaceVersion: 0x33,
    address: { ton: 0, npi: 0, address: "" },
  });
  const rest = "00000000 00000001 6100 6200 00 33 00 00 00";
  expect(encodePdu({ commandId: COMMAND.bindTransmitter, sequence: 1, body })).toEqual(
    octets(`00000019 00000002 ${rest}`),
  );
  expect(encodePdu({ commandId: COMMAND.bindReceiver, sequence: 1, body })).toEqual(
    octets(`00000019 00000001 ${rest}`),
  );
});

test("query_sm, field by field (§4.8.1)", () => {
  const body = encodeQuery({ messageId: "0AbC", source: { ton: 5, npi: 0, address: "PSTRDR" } });
  expect(encodePdu({ commandId: COMMAND.querySm, sequence: 2, body })).toEqual(
    octets("0000001e 00000003 00000000 00000002", `${ascii("0AbC")} 00`, `05 00 ${ascii("PSTRDR")} 00`),
  );
});

test.each([
  [octets(`${ascii("id")} 00`, `${ascii("260115120100000+")} 00`, "02 00"), { state: 2, errorCode: 0 }],
  [octets(`${ascii("id")} 00`, "00", "05 0c"), { state: 5, errorCode: 12 }],
  [octets(`${ascii("id")} 00`, "00", "05"), undefined],
  [octets(), undefined],
])("query_sm_resp is read to its state and error (§4.8.2) (%#)", (body, answer) => {
  expect(decodeQueryAnswer(body)).toEqual(answer);
});

test("SAR parameters and message_payload are TLVs behind an empty or whole short_message (§5.3.2.22 to 24, 32)", () => {
  const nobody = { ton: 0, npi: 0, address: "" };
  const bare = {
    source: nobody,
    destination: nobody,
    validityPeriod: "",
    registeredDelivery: 0,
    dataCoding: 0,
  };
  const fields = "00 000000 000000 00 00 00 00 00 00 00 00 00";
  const sar = toPieces([Buffer.from("A"), Buffer.from("B")], { style: "sar", messageId: "m" });
  const reference = Buffer.from(sar[0]!.tlvs.get(0x020c)!).toString("hex");
  expect(encodeShortMessage({ ...bare, ...sar[1]! })).toEqual(
    octets(fields, `01 ${ascii("B")}`, `020c 0002 ${reference}`, "020e 0001 02", "020f 0001 02"),
  );
  const [whole] = toPieces([Buffer.from("A"), Buffer.from("B")], { style: "payload", messageId: "m" });
  expect(encodeShortMessage({ ...bare, ...whole! })).toEqual(
    octets(fields, "00", `0424 0002 ${ascii("AB")}`),
  );
});
