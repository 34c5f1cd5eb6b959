import { expect, test } from "bun:test";
import { parseRetryAfter } from "./retry-after.ts";

const NOW = Date.UTC(2026, 0, 15, 12, 0, 0);
const HOUR = 3_600_000;

test.each([
  ["120", 120_000],
  [" 0 ", 0],
  ["999999999", 24 * HOUR],
  ["Thu, 15 Jan 2026 12:01:00 GMT", 60_000],
  ["Thursday, 15-Jan-26 12:01:00 GMT", 60_000],
  ["Thu Jan 15 12:01:00 2026", 60_000],
  ["Sat, 15 Jan 2126 12:00:00 GMT", 24 * HOUR],
  ["Sunday, 06-Nov-94 08:49:37 GMT", 0],
  ["Thu Jan  1 00:00:00 2026", 0],
] as const)("Retry-After %p asks for %p ms", (value, ms) => {
  expect(parseRetryAfter(value, NOW)).toBe(ms);
});

test.each([
  "",
  "-1",
  "1.5",
  "soon",
  "Thu, 15 Foo 2026 12:00:00 GMT",
  "2026-01-15T12:00:00Z",
  "9".repeat(400),
])("Retry-After %p is no wish", (value) => {
  expect(parseRetryAfter(value, NOW)).toBeUndefined();
});
