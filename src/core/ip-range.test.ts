import { expect, test } from "bun:test";
import { parseRange } from "../webhooks/http/address-rules.ts";
import { isIpRange } from "./ip-range.ts";

test.each([
  "10.0.0.0/8",
  "127.0.0.1",
  "0.0.0.0/0",
  "192.168.1.1/32",
  "fd00::/8",
  "::1",
  "::ffff:10.0.0.1",
  "2001:db8::/128",
])("%s is a range, and webhooks read it so", (text) => {
  expect(isIpRange(text)).toBe(true);
  expect(parseRange(text)).toBeDefined();
});

test.each([
  "",
  "10.0.0/8",
  "10.0.0.0/33",
  "256.0.0.1",
  "010.0.0.1",
  "0x7f.1",
  "::/129",
  ":::1",
  "fe80::1%eth0",
  "10.0.0.0/8 ",
  "10.0.0.0/",
  "hooks.test",
])("%p is none", (text) => {
  expect(isIpRange(text)).toBe(false);
  expect(parseRange(text)).toBeUndefined();
});
