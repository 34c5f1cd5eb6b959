import { expect, test } from "bun:test";
import type { Connector } from "../../../core/records/accounts.ts";
import { readSmppConfig } from "./smpp-config.ts";

const connectorWith = (config: Connector["config"]): Connector => ({
  id: "c",
  name: "c",
  kind: "smpp",
  config: { host: "smsc.example", system_id: "rider", ...config },
  secrets: {},
  isEnabled: true,
  createdAt: 0,
});

test("a service_type has at most five characters, as its field on the wire", () => {
  const read = (service_type: string) => readSmppConfig(connectorWith({ service_type }));
  expect(readSmppConfig(connectorWith({}))).toMatchObject({ service_type: "" });
  for (const good of ["", "CMT", "OTP01"]) expect(read(good)).toMatchObject({ service_type: good });
  for (const bad of ["CELLULAR", "O P", "é"])
    expect(read(bad)).toMatchObject({ message: expect.stringContaining("/service_type") });
});
