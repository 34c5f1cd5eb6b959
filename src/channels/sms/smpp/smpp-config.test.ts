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
  ]) {
    const [field = ""] = Object.keys(setting);
    expect(problemsOf({ ...version, ...setting })).toEqual({ [field]: reason });
    expect(problemsOf(setting)).toEqual({});
  }
  const allowed = { concat: "udh16", user_message_reference: false, dlt_chain_ids: [], query_sm: true };
  expect(problemsOf({ ...version, ...allowed })).toEqual({});
});
