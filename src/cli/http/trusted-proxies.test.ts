import { expect, test } from "bun:test";
import { readConfig } from "../config.ts";
import { isTrustedProxy } from "./trusted-proxies.ts";

test("TRUSTED_PROXIES takes addresses and ranges, of both families, and sees through mapped ones", () => {
  const result = readConfig({ TRUSTED_PROXIES: "10.0.0.0/8, 192.0.2.7, ::1" });
  if (!("config" in result)) throw new Error(result.problems.join());
  const { trustedProxies } = result.config;
  const judged = [
    "10.1.2.3",
    "::ffff:10.1.2.3",
    "192.0.2.7",
    "::1",
    "192.0.2.8",
    "fe80::1",
    "nonsense",
    "",
  ].map((address) => isTrustedProxy(address, trustedProxies));
  expect(judged).toEqual([true, true, true, true, false, false, false, false]);
});

test("without TRUSTED_PROXIES nobody is trusted", () => {
  expect(isTrustedProxy("127.0.0.1", [])).toBe(false);
});
