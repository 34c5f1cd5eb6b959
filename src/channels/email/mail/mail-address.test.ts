import { expect, test } from "bun:test";
import { asciiDomainOf, toEnvelopeAddress } from "./mail-address.ts";

test("an address is carried as it is, its domain in ASCII unless the local part needs SMTPUTF8", () => {
  expect(toEnvelopeAddress("Ann.O'Hara+x@Example.test")).toBe("Ann.O'Hara+x@Example.test");
  expect(toEnvelopeAddress('"ann b"@example.test')).toBe('"ann b"@example.test');
  expect(toEnvelopeAddress("ann@bücher.test")).toBe("ann@xn--bcher-kva.test");
  expect(toEnvelopeAddress("jürgen@bücher.test")).toBe("jürgen@bücher.test");
});

test("what could end the path, or is too long for it, is refused", () => {
  const bad = [
    "",
    "ann",
    "@example.test",
    "ann@",
    "an n@example.test",
    "ann@exam ple.test",
    "ann@example.test>",
    "<ann@example.test",
    '"a\r\nb"@example.test',
    "ann@example.test\r\nRCPT TO:<eve@example.test",
    "ann@example.test\0",
    `${"a".repeat(65)}@example.test`,
    `${"é".repeat(33)}@example.test`,
    `a@${"b".repeat(256)}`,
    "ann@\u0300b.test",
    "jürgen@\u0300b.test",
  ];
  for (const address of bad) expect(toEnvelopeAddress(address)).toBeUndefined();
});

test("a domain in ASCII is looked up as it is, also one that IDNA has no word for", () => {
  for (const [address, domain] of [
    ["ann@Example.test", "example.test"],
    ["ann@XN--zzzz.test", "xn--zzzz.test"],
    ["ann@b.0x7f", "b.0x7f"],
    ["jürgen@bücher.test", "xn--bcher-kva.test"],
  ] as const) {
    expect(asciiDomainOf(address)).toBe(domain);
  }
});
