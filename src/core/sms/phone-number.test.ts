import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { isIndian, parsePhoneNumber, toNumberPart } from "./phone-number.ts";

describe("reading a phone number", () => {
  test.each([
    ["+919876543210", "+919876543210"],
    ["+14155550123", "+14155550123"],
    ["+1 (415) 555-0123", "+14155550123"],
    ["9876543210", "+919876543210"],
    ["98765 43210", "+919876543210"],
    ["9198765432", "+919198765432"],
    ["09876543210", "+919876543210"],
    ["919876543210", "+919876543210"],
    ["+9109876543210", "+919876543210"],
    ["+91 0 98765-43210", "+919876543210"],
    ["+91 (0) 98765 43210", "+919876543210"],
    ["00919876543210", "+919876543210"],
    ["00 44 20 7946 0958", "+442079460958"],
    ["+123456789012345", "+123456789012345"],
    ["+1234567", "+1234567"],
  ])("%p is %p", (text, number) => {
    expect(parsePhoneNumber(text)).toBe(number as never);
  });

  test.each([
    "",
    "+",
    "12345",
    "+123456",
    "+1234567890123456",
    "+0123456789",
    "5876543210",
    "14155550123",
    "+91987654321a",
    "++919876543210",
    "+91+9876543210",
    "+९१९८७६५४३२१०",
    "９８７６５４３２１０",
    "+919876543210\n",
    "tel:+919876543210",
    "+1\u00a04155550123",
    "+44 (0)20 7946 0958",
    "0044(0) 20 7946 0958",
    "+49 ( 0 ) 30 123456",
    "+91 (0) 11 2345 6789",
    `+9${" ".repeat(100)}19876543210`,
  ])("%p is refused", (text) => {
    expect(parsePhoneNumber(text)).toBeUndefined();
  });

  test("a number that was read reads as itself again", () => {
    const digits = fc.string({ unit: fc.constantFrom(..."0123456789 -.()"), maxLength: 20, size: "max" });
    const prefix = fc.constantFrom("", "+", "00", "0", "91", "+91");
    let numbers = 0;
    fc.assert(
      fc.property(prefix, digits, (start, rest) => {
        const number = parsePhoneNumber(start + rest);
        if (number === undefined) return;
        numbers++;
        expect(number).toMatch(/^\+[1-9]\d{6,14}$/);
        expect(parsePhoneNumber(number)).toBe(number);
      }),
      { numRuns: 2000 },
    );
    expect(numbers).toBeGreaterThan(100);
  });

  test("Indian numbers are told by their country code", () => {
    expect(["+919876543210", "+9198", "+14155550123"].map(isIndian)).toEqual([true, true, false]);
  });

  test("a part of a number keeps its digits, and any other text all that it has", () => {
    expect(["+91 98765-43210", "(98765) 432.10", "0 98"].map(toNumberPart)).toEqual([
      "+919876543210",
      "9876543210",
      "098",
    ]);
    for (const text of ["", "-", "+", "MY-SHOP", "a 1", "1234-5678-1234-5678", "１ ２"])
      expect(toNumberPart(text)).toBe(text);
  });

  test("every Indian mobile is found in each of its spellings", () => {
    fc.assert(
      fc.property(fc.integer({ min: 6_000_000_000, max: 9_999_999_999 }), (mobile) => {
        for (const prefix of ["", "0", "91", "+91", "+910", "0091"]) {
          expect(parsePhoneNumber(`${prefix}${mobile}`)).toBe(`+91${mobile}` as never);
        }
      }),
    );
  });
});
