import { expect, test } from "bun:test";
import { areRounded, isRounded } from "./rounded-ids.ts";

test("a rounded id is known by its exponent, wherever the spreadsheet was made", () => {
  for (const id of ["1.10716E+18", "1,10716E+18", "1e18"]) expect(isRounded(id)).toBe(true);
  for (const id of ["1107161234567890123", "110E", "12.3E+4"]) expect(isRounded(id)).toBe(false);
});

test.each([
  [["1107161234567890000"], true],
  [["1107161234567890000", "1107161234567910000"], true],
  [["110716123456789000", "110716123456791000"], true],
  [["1107161234567890000", "1107161234567890123"], false],
  // By chance.
  [["1107161234567890", "1107161234567910"], false],
  [["110716123456789", "110716000000"], false],
  [["ACMEIN", "560001"], false],
  [[], false],
])("of the ids %p it is told whether a spreadsheet has rounded them: %p", (ids, isSo) => {
  expect(areRounded(ids)).toBe(isSo);
});
