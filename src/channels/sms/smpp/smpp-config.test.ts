import { expect, test } from "bun:test";
import type { Connector } from "../../../core/records/accounts.ts";
import { readSmppConfig } from "./smpp-config.ts";
import { smppConnectorKind } from "./smpp-connector.ts";

const connectorWith = (config: Connector["config"]): Connector => ({
  id: "c",
  name: "c",
  kind: "smpp",
  config: { host: "smsc.example", system_id: "rider", ...config },
  secrets: {},
  isEnabled: true,
  createdAt: 0,
});

const problemsOf = (config: Connector["config"]) => smppConnectorKind.problems?.(connectorWith(config));

test("a service_type has at most five characters, as its field on the wire", () => {
  const read = (service_type: string) => readSmppConfig(connectorWith({ service_type }));
  expect(readSmppConfig(connectorWith({}))).toMatchObject({ service_type: "" });
  for (const good of ["", "CMT", "OTP01"]) expect(read(good)).toMatchObject({ service_type: good });
  for (const bad of ["CELLULAR", "O P", "é"])
    expect(read(bad)).toMatchObject({ message: expect.stringContaining("/service_type") });
});

test("a priority_flag is 0 to 3", () => {
  const read = (priority_flag: number) => readSmppConfig(connectorWith({ priority_flag }));
  expect(readSmppConfig(connectorWith({}))).toMatchObject({ priority_flag: 0 });
  for (const good of [0, 3]) expect(read(good)).toMatchObject({ priority_flag: good });
  for (const bad of [-1, 4, 1.5])
    expect(read(bad)).toMatchObject({ message: expect.stringContaining("/priority_flag") });
});

test("what is sent in TLVs cannot be set for SMPP 3.3, and is refused under its own name", () => {
  const version = { interface_version: "3.3" };
  const reason = expect.stringContaining("with interface_version 3.3, which has no TLVs");
  for (const setting of [
    { concat: "sar" },
    { concat: "payload" },
    { user_message_reference: true },
    { dlt_chain_ids: ["entity"] },
    { extra_tlvs: [{ tag: 0x1503, text: "ACME" }] },
  ]) {
    const [field = ""] = Object.keys(setting);
    expect(problemsOf({ ...version, ...setting })).toEqual({ [field]: reason });
    expect(problemsOf(setting)).toEqual({});
  }
  const allowed = { concat: "udh16", user_message_reference: false, dlt_chain_ids: [], query_sm: true };
  expect(problemsOf({ ...version, ...allowed })).toEqual({});
});

test.each([
  [{ tag: 0x0424, hex: "00" }, { "extra_tlvs.1.tag": expect.stringContaining("no other setting") }],
  [{ tag: 0x1400, text: "11" }, { "extra_tlvs.1.tag": expect.stringContaining("no other setting") }],
  [{ tag: 0x1503, hex: "" }, { "extra_tlvs.1.tag": expect.stringContaining("an earlier one") }],
  [{ tag: 0x1504 }, { "extra_tlvs.1": "must have one of text, hex and integer" }],
  [{ tag: 0x1504, text: "a", hex: "61" }, { "extra_tlvs.1": "must have one of text, hex and integer" }],
  [{ tag: 0x1504, integer: 1 }, { "extra_tlvs.1": expect.stringContaining("must have octets") }],
  [{ tag: 0x1504, text: "a", octets: 1 }, { "extra_tlvs.1": expect.stringContaining("must have octets") }],
  [{ tag: 0x1504, integer: 256, octets: 1 }, { "extra_tlvs.1": "must have an integer that fits one octet" }],
  [{ tag: 0x1504, integer: 255, octets: 1 }, {}],
  [{ tag: 0x1504, integer: 0xffffffff, octets: 4 }, {}],
  [{ tag: 0x1504, hex: "" }, {}],
])("of a further TLV %j it is said what is wrong with it, if anything", (tlv, problems) => {
  expect(problemsOf({ extra_tlvs: [{ tag: 0x1503, text: "ACME" }, tlv] })).toEqual(problems);
});

test("a tag of DLT is free where the connector sends the DLT ids in others", () => {
  const extra_tlvs = [{ tag: 0x1400, text: "ACME" }];
  expect(problemsOf({ extra_tlvs, dlt_entity_tag: 0x1500 })).toEqual({});
  expect(problemsOf({ extra_tlvs: [{ tag: 0x1500, text: "ACME" }], dlt_entity_tag: 0x1500 })).not.toEqual({});
});

test("further TLVs are few and short, and their texts ASCII", () => {
  const read = (extra_tlvs: unknown) => readSmppConfig(connectorWith({ extra_tlvs }));
  const many = (count: number) => Array.from({ length: count }, (_, i) => ({ tag: 0x1500 + i, hex: "00" }));
  for (const good of [many(10), [{ tag: 1, text: "a".repeat(255) }]])
    expect(read(good)).toMatchObject({ extra_tlvs: good });
  const bad: unknown[] = [many(11), [{ tag: 0, hex: "" }], [{ tag: 1, text: "é" }], [{ tag: 1, hex: "abc" }]];
  bad.push([{ tag: 1, text: "a".repeat(256) }], [{ tag: 1, hex: "00".repeat(256) }], [{ text: "a" }]);
  for (const each of bad) expect(read(each)).toBeInstanceOf(Error);
});
