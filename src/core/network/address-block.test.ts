import { expect, test } from "bun:test";
import { addressBlock } from "./address-block.ts";

test("an IPv6 client is counted by its /64, an IPv4 client by itself", () => {
  expect(addressBlock("2001:db8:1:2:3:4:5:6")).toBe("2001:db8:1:2::/64");
  expect(addressBlock("2001:DB8::1")).toBe("2001:db8:0:0::/64");
  expect(addressBlock("2001:0db8:0001::")).toBe("2001:db8:1:0::/64");
  expect(addressBlock("::1")).toBe("0:0:0:0::/64");
  expect(addressBlock("fe80::1%eth0")).toBe("fe80:0:0:0::/64");
  expect(addressBlock("192.0.2.1")).toBe("192.0.2.1");
  expect(addressBlock("")).toBe("");
  expect(addressBlock("unknown:peer")).toBe("unknown:peer");
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
