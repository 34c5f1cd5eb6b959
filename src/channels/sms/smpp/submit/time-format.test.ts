import { expect, test } from "bun:test";
import { toRelativeTime } from "./time-format.ts";

test.each([
  [3_600_000, "000000010000000R"],
  [86_400_000, "000001000000000R"],
  [5000, "000000000005000R"],
  [90_061_000, "000001010101000R"],
  [59_999, "000000000059000R"],
  [0, "000000000001000R"],
  [-5, "000000000001000R"],
  [400 * 86_400_000, "000030000000000R"],
])("%p ms are %p", (spanMs, written) => {
  expect(toRelativeTime(spanMs)).toBe(written);
  expect(toRelativeTime(spanMs)).toHaveLength(16);
});
