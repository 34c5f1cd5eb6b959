import { expect, test } from "bun:test";
import { clientAddress } from "./client-address.ts";
import { type Cidr, readConfig } from "./config.ts";

const trusting = (ranges: string): readonly Cidr[] => {
  const result = readConfig({ TRUSTED_PROXIES: ranges });
  if (!("config" in result)) throw new Error(result.problems.join());
  return result.config.trustedProxies;
};

test("without trusted proxies a forwarded address is never believed", () => {
  expect(clientAddress("10.0.0.1", "203.0.113.9", [])).toBe("10.0.0.1");
});

test("a forwarded address counts only when a trusted proxy says it", () => {
  const trusted = trusting("10.0.0.0/8, ::1");
  expect(clientAddress("10.0.0.1", "203.0.113.9", trusted)).toBe("203.0.113.9");
  expect(clientAddress("::1", "203.0.113.9", trusted)).toBe("203.0.113.9");
  expect(clientAddress("::ffff:10.0.0.1", "203.0.113.9", trusted)).toBe("203.0.113.9");
  expect(clientAddress("192.0.2.1", "203.0.113.9", trusted)).toBe("192.0.2.1");
});

test("what a client writes into the header itself does not count", () => {
  const trusted = trusting("10.0.0.0/8");
  expect(clientAddress("10.0.0.1", "1.1.1.1, 203.0.113.9, 10.2.2.2", trusted)).toBe("203.0.113.9");
  expect(clientAddress("10.0.0.1", "nonsense", trusted)).toBe("10.0.0.1");
});
