import { describe, expect, test } from "bun:test";
import { createAddressRules, parseRange } from "./address-rules.ts";

const strict = createAddressRules([]);

/** First and last address of every blocked range. */
const BLOCKED = [
  ["0.0.0.0", "0.255.255.255"],
  ["10.0.0.0", "10.255.255.255"],
  ["100.64.0.0", "100.127.255.255"],
  ["127.0.0.0", "127.255.255.255"],
  ["169.254.0.0", "169.254.169.254", "169.254.255.255"],
  ["172.16.0.0", "172.31.255.255"],
  ["192.0.0.0", "192.0.0.255"],
  ["192.0.2.0", "192.0.2.255"],
  ["192.88.99.0", "192.88.99.255"],
  ["192.168.0.0", "192.168.255.255"],
  ["198.18.0.0", "198.19.255.255"],
  ["198.51.100.0", "198.51.100.255"],
  ["203.0.113.0", "203.0.113.255"],
  ["224.0.0.0", "239.255.255.255"],
  ["240.0.0.0", "255.255.255.255"],
  ["::", "::1", "::7f00:1", "::127.0.0.1", "::8.8.8.8", "::ffff:ffff"],
  ["::ffff:127.0.0.1", "::ffff:7f00:1", "::ffff:10.0.0.1", "::ffff:169.254.169.254"],
  ["::ffff:0:0:0", "::ffff:0:127.0.0.1", "::ffff:0:8.8.8.8"],
  ["64:ff9b::", "64:ff9b::7f00:1", "64:ff9b::8.8.8.8"],
  ["64:ff9b:1::", "64:ff9b:1:ffff:ffff:ffff:ffff:ffff"],
  ["100::", "100::ffff:ffff:ffff:ffff"],
  ["2001::", "2001:0:7f00:1::", "2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff"],
  ["2001:db8::", "2001:db8:ffff:ffff:ffff:ffff:ffff:ffff"],
  ["2002::", "2002:7f00:1::", "2002:808:808::1"],
  ["3fff::", "3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff"],
  ["5f00::", "5f00:ffff:ffff:ffff:ffff:ffff:ffff:ffff"],
  ["fc00::", "fd00:ec2::254", "fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"],
  ["fe80::1", "febf:ffff:ffff:ffff:ffff:ffff:ffff:ffff"],
  ["fec0::", "feff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"],
  ["ff00::", "ff02::1", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"],
].flat();

/** The neighbours of the blocked ranges, and what people really use. */
const PUBLIC = [
  "1.0.0.0",
  "8.8.8.8",
  "9.255.255.255",
  "11.0.0.0",
  "100.63.255.255",
  "100.128.0.0",
  "126.255.255.255",
  "128.0.0.0",
  "169.253.255.255",
  "169.255.0.0",
  "172.15.255.255",
  "172.32.0.0",
  "192.0.1.0",
  "192.167.255.255",
  "192.169.0.0",
  "198.17.255.255",
  "198.20.0.0",
  "223.255.255.255",
  "::ffff:8.8.8.8",
  "2001:200::",
  "2001:4860:4860::8888",
  "2606:4700::1111",
  "2003::1",
];

describe("without an operator's word", () => {
  test.each(BLOCKED)("%s is blocked", (address) => {
    expect(strict.blockedBy(address)).toBeString();
  });

  test.each(PUBLIC)("%s may be reached", (address) => {
    expect(strict.blockedBy(address)).toBeUndefined();
  });

  test.each([
    "",
    "localhost",
    "127.1",
    "0x7f.0.0.1",
    "0177.0.0.1",
    "2130706433",
    "127.0.0.1 ",
    "fe80::1%eth0",
    "2606:4700::1111%lo",
    "１２７.0.0.1",
    "[::1]",
    "1.2.3.4/8",
  ])("%p is no address, and blocked", (text) => {
    expect(strict.blockedBy(text)).toBe("not an address");
  });

  test("the range is named", () => {
    expect(strict.blockedBy("10.1.2.3")).toBe("10.0.0.0/8");
    expect(strict.blockedBy("::ffff:10.1.2.3")).toBe("10.0.0.0/8");
    expect(strict.blockedBy("fd00:ec2::254")).toBe("fc00::/7");
  });
});

describe("an operator who allows a range", () => {
  test("allows it, also as mapped addresses, and nothing beside it", () => {
    const rules = createAddressRules(["10.1.0.0/16", "fd12::/32", "127.0.0.1", "fd14::5", "10.3.0.4/32"]);
    for (const address of ["10.1.2.3", "::ffff:10.1.2.3", "fd12::9", "127.0.0.1", "fd14::5", "10.3.0.4"]) {
      expect(rules.blockedBy(address)).toBeUndefined();
    }
    for (const address of ["10.2.0.1", "fd13::1", "127.0.0.2", "::1", "fd14::6", "10.3.0.5"]) {
      expect(rules.blockedBy(address)).toBeString();
    }
  });

  test("allows ways to other addresses only where these are allowed too", () => {
    const rules = createAddressRules(["64:ff9b::/96", "2002::/16", "::/0"]);
    expect(rules.blockedBy("64:ff9b::8.8.8.8")).toBeUndefined();
    expect(rules.blockedBy("2002:808:808::1")).toBeUndefined();
    expect(rules.blockedBy("::ffff:0:8.8.8.8")).toBeUndefined();
    for (const [high, low] of [
      ["7f00", "1"],
      ["a9fe", "a9fe"],
      ["c0a8", "101"],
      ["0a00", "1"],
    ]) {
      const inner = `${high}:${low}`;
      for (const way of [`64:ff9b::${inner}`, `2002:${inner}::1`, `::${inner}`, `::ffff:0:${inner}`]) {
        expect([way, rules.blockedBy(way)]).toEqual([way, expect.any(String)]);
      }
    }
    for (const way of ["64:ff9b::2", "::2"]) expect(rules.blockedBy(way)).toBe("0.0.0.0/8");
    expect(rules.blockedBy("::1")).toBeUndefined();
  });

  test("allows with the local NAT64 no private address behind it, wherever that may be in the address", () => {
    const rules = createAddressRules(["64:ff9b:1::/48", "192.168.7.0/24"]);
    for (const inner of ["8.8.8.8", "1.0.0.0", "192.168.7.9"])
      expect([inner, rules.blockedBy(`64:ff9b:1::${inner}`)]).toEqual([inner, undefined]);
    for (const metadata of [
      "64:ff9b:1:a9fe:a9:fe00::",
      "64:ff9b:1:a9:fe:a9fe::",
      "64:ff9b:1:0:a9:fea9:fe00:0",
      "64:ff9b:1::a9fe:a9fe",
      // With more behind it, which translators ignore.
      "64:ff9b:1:a9fe:a9:fe00:808:808",
    ])
      expect([metadata, rules.blockedBy(metadata)]).toEqual([metadata, "169.254.0.0/16"]);
  });

  test("allows with one prefix of 96 bits what that translates, and no private address", () => {
    const rules = createAddressRules(["64:ff9b:1:fffe::/96"]);
    expect(rules.blockedBy("64:ff9b:1:fffe::808:808")).toBeUndefined();
    expect(rules.blockedBy("64:ff9b:1:fffe::a00:1")).toBe("10.0.0.0/8");
    expect(rules.blockedBy("64:ff9b:1:a9fe:a9:fe00::")).toBe("64:ff9b:1::/48");
  });

  test("allows with a single address of it no private one either", () => {
    const rules = createAddressRules(["64:ff9b:1::808:808", "64:ff9b:1::a9fe:a9fe"]);
    expect(rules.blockedBy("64:ff9b:1::808:808")).toBeUndefined();
    expect(rules.blockedBy("64:ff9b:1::a9fe:a9fe")).toBe("169.254.0.0/16");
  });

  test.each([
    "10.0.0.0/33",
    "::/129",
    "10.0.0/8",
    "10.0.0.0/",
    "example.com/8",
    "/8",
    "10.0.0.0/8/8",
    "fe80::%1/10",
  ])("is told that %p is no range", (text) => {
    expect(parseRange(text)).toBeUndefined();
  });
});
