import { expect, test } from "bun:test";
import { Resolver } from "node:dns/promises";
import { parseRange } from "../../webhooks/http/address-rules.ts";
import { isIpRange, isNameServer } from "./ip-range.ts";

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
])("%p is not a range", (text) => {
  expect(isIpRange(text)).toBe(false);
  expect(parseRange(text)).toBeUndefined();
});

test.each(["10.0.0.53", "10.0.0.53:5353", "::1", "2001:db8::53", "[::1]", "[2001:db8::53]:65535"])(
  "%s is a name server, and resolvers take it",
  (text) => {
    expect(isNameServer(text)).toBe(true);
    const resolver = new Resolver();
    resolver.setServers([text]);
    expect(resolver.getServers()).toHaveLength(1);
  },
);

test.each([
  "",
  "abcd",
  "1.2.3",
  "1.2.3.4:",
  "1.2.3.4:0",
  "1.2.3.4:65536",
  "1.2.3.4:53:53",
  "1.2.3.4/32",
  "[",
  "[1.2.3.4]:53",
  ":::1",
  "dns.example",
  " 1.2.3.4",
])("%p is no name server", (text) => {
  expect(isNameServer(text)).toBe(false);
});
