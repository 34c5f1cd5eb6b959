import { expect, test } from "bun:test";
import fc from "fast-check";
import { isSameNumber } from "./same-number.ts";

test.each([
  ["+919812345678", "919812345678", true],
  ["+919812345678", "+91 98123-45678", true],
  ["+919812345678", "00919812345678", true],
  ["+919812345678", "9812345678", true],
  ["+919812345678", "09812345678", true],
  ["+14155550100", "4155550100", true],
  ["+14155550100", "01114155550100", true],
  ["+919812345678", "919812345679", false],
  ["+919812345678", "2345678", true],
  ["+919812345678", "345678", false],
  ["+919812345678", "57575", false],
  ["+919812345678", "9198XXXX5678", undefined],
  ["+919812345678", "PSTRDR", undefined],
  ["+919812345678", "", undefined],
  ["+919812345678", undefined, undefined],
  ["", "919812345678", undefined],
] as const)("%s written as %p: %p", (ours, written, answer) => {
  expect(isSameNumber(ours, written)).toBe(answer);
});

test("a number is itself, in whatever way it is written", () => {
  const e164 = fc.stringMatching(/^[1-9][0-9]{7,14}$/);
  fc.assert(
    fc.property(e164, fc.constantFrom("", "+", "00", "0"), (number, prefix) => {
      expect(isSameNumber(`+${number}`, prefix + number)).toBe(true);
    }),
  );
});

test("numbers whose last seven digits differ are never the same", () => {
  const tail = fc.stringMatching(/^[0-9]{7}$/);
  fc.assert(
    fc.property(tail, tail, (one, other) => {
      fc.pre(one !== other);
      expect(isSameNumber(`+9198${one}`, `9198${other}`)).toBe(false);
    }),
  );
});
