import { expect, test } from "bun:test";
import { addressBlock, clientAddress } from "./client-address.ts";

const isTrusted = (address: string) => address.startsWith("10.");

test("a peer that is no trusted proxy is the client, whatever it forwards", () => {
  expect(clientAddress("198.51.100.1", "203.0.113.9", isTrusted)).toBe("198.51.100.1");
  expect(clientAddress("198.51.100.1", null, isTrusted)).toBe("198.51.100.1");
});

test("behind trusted proxies the last address that is none of them is the client", () => {
  expect(clientAddress("10.0.0.1", "203.0.113.9", isTrusted)).toBe("203.0.113.9");
  expect(clientAddress("10.0.0.1", "1.2.3.4, 203.0.113.9, 10.0.0.2", isTrusted)).toBe("203.0.113.9");
  expect(clientAddress("10.0.0.1", "10.0.0.3, 10.0.0.2", isTrusted)).toBe("10.0.0.3");
});

test("ports and brackets are dropped, and nonsense ends the search", () => {
  expect(clientAddress("10.0.0.1", "203.0.113.9:4711", isTrusted)).toBe("203.0.113.9");
  expect(clientAddress("10.0.0.1", "[2001:db8::1]:443", isTrusted)).toBe("2001:db8::1");
  expect(clientAddress("10.0.0.1", "203.0.113.9, unknown", isTrusted)).toBe("10.0.0.1");
});

test("an IPv6 client is counted by its /64, an IPv4 client by itself", () => {
  expect(addressBlock("2001:db8:1:2:3:4:5:6")).toBe("2001:db8:1:2::/64");
  expect(addressBlock("2001:DB8::1")).toBe("2001:db8:0:0::/64");
  expect(addressBlock("2001:0db8:0001::")).toBe("2001:db8:1:0::/64");
  expect(addressBlock("::1")).toBe("0:0:0:0::/64");
  expect(addressBlock("fe80::1%eth0")).toBe("fe80:0:0:0::/64");
  expect(addressBlock("192.0.2.1")).toBe("192.0.2.1");
});

test.each([
  "::ffff:192.0.2.1",
  "::FFFF:192.0.2.1",
  "::ffff:c000:201",
  "0:0:0:0:0:ffff:c000:0201",
  "0::ffff:192.0.2.1",
])("%s counts as the IPv4 client that it is", (mapped) => {
  expect(addressBlock(mapped)).toBe("192.0.2.1");
});
