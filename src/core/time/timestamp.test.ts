import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { parseTimestamp, toIso } from "./timestamp.ts";

describe("reading a time", () => {
  test.each([
    ["2026-01-15T12:00:00Z", "2026-01-15T12:00:00.000Z"],
    ["2026-01-15T12:00:00.5Z", "2026-01-15T12:00:00.500Z"],
    ["2026-01-15T12:00:00.123456789Z", "2026-01-15T12:00:00.123Z"],
    ["2026-01-15T12:00:00.0005Z", "2026-01-15T12:00:00.000Z"],
    ["2026-01-15T17:30:00+05:30", "2026-01-15T12:00:00.000Z"],
    ["2026-01-15T04:00:00.25-08:00", "2026-01-15T12:00:00.250Z"],
    ["2024-02-29T23:59:59Z", "2024-02-29T23:59:59.000Z"],
    ["2026-01-01T00:00:00+23:59", "2025-12-31T00:01:00.000Z"],
    ["2026-01-15t12:00:00z", "2026-01-15T12:00:00.000Z"],
  ])("%p is %p", (text, iso) => {
    expect(parseTimestamp(text)).toBe(Date.parse(iso));
  });

  test.each([
    "",
    "2026-01-15",
    "2026-01-15T12:00Z",
    "2026-01-15T12:00:00",
    "2026-01-15 12:00:00Z",
    "2026-02-30T10:00:00Z",
    "2025-02-29T10:00:00Z",
    "2026-13-01T10:00:00Z",
    "2026-00-10T10:00:00Z",
    "2026-01-15T24:00:00Z",
    "2026-01-15T23:59:60Z",
    "2026-01-15T12:00:00.Z",
    "2026-01-15T12:00:00.1234567890Z",
    "2026-01-15T12:00:00+0530",
    "2026-01-15T12:00:00+24:00",
    "2026-01-15T12:00:00+05:60",
    "2026-01-15T12:00:00Z\n",
    "+002026-01-15T12:00:00Z",
    "1768478400000",
    "tomorrow",
  ])("%p is refused", (text) => {
    expect(parseTimestamp(text)).toBeUndefined();
  });

  test("every millisecond of four-digit years survives writing and reading", () => {
    const first = Date.UTC(1000, 0, 1);
    fc.assert(
      fc.property(fc.integer({ min: first, max: Date.UTC(9999, 11, 31) }), (ms) => {
        expect(parseTimestamp(toIso(ms))).toBe(ms);
      }),
    );
  });
});
