import { expect, test } from "bun:test";
import { clientAddress } from "./client-address.ts";

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
