import { expect, test } from "bun:test";
import { toEnvelopeAddress } from "./mail-address.ts";

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
  ];
  for (const address of bad) expect(toEnvelopeAddress(address)).toBeUndefined();
});
