import { describe, expect, test } from "bun:test";
import type { FieldErrors } from "../body/field-errors.ts";
import { parseSendSms } from "../sms/send-sms.ts";

const now = Date.UTC(2026, 0, 15, 12);
const good = { to: "+919876543210", template_id: "0190a5c4-7b1e-7c3a-9f00-2b8d5e6f7a10" };

function parse(fields: object) {
  const parsed = parseSendSms({ ...good, ...fields }, { mode: "live", now });
  return "value" in parsed ? { ...parsed, errors: {} as FieldErrors } : { ...parsed, value: undefined };
}
const errorsOf = (fields: object) => parse(fields).errors;
const readOf = (fields: object) => parse(fields).value;

describe("callback_url", () => {
  test.each([
    "https://example.com",
    "https://example.com:8443/a/b?c=d#e",
    "https://10.0.0.1/hook",
    "https://[::1]:9000/",
    "https://localhost/",
    "https://müller.example/ü",
  ])("%p is taken as it is", (callback_url) => {
    expect(readOf({ callback_url })).toMatchObject({ callbackUrl: callback_url });
  });

  test.each([
    "http://example.com",
    "HTTPS://example.com",
    "ftp://x",
    "example.com",
    "",
    "javascript:alert(1)",
  ])("%p does not start with https://", (callback_url) => {
    expect(errorsOf({ callback_url })).toEqual({ callback_url: "must start with https://" });
  });

  test.each([
    "https://",
    "https:///example.com",
    "https://?x",
    "https://exa mple.com",
    "https://example.com/\n",
    "https://example.com\\@evil.example",
    "https://example.com:99999/",
    "https://1.2.3.999/",
    "https://[::1/",
    "https://example.com/\ud800",
  ])("%p is not a valid URL", (callback_url) => {
    expect(errorsOf({ callback_url }).callback_url).toStartWith("must be a valid URL");
  });

  test("user names and passwords are refused", () => {
    for (const callback_url of [
      "https://u:p@example.com",
      "https://u@example.com",
      "https://:p@example.com",
    ]) {
      expect(errorsOf({ callback_url })).toEqual({ callback_url: "must not hold a user name or password" });
    }
  });

  test("at most 2,048 characters", () => {
    const url = (length: number) => `https://example.com/${"x".repeat(length - 20)}`;
    expect(errorsOf({ callback_url: url(2048) })).toEqual({});
    expect(errorsOf({ callback_url: url(2049) })).toEqual({
      callback_url: "must be at most 2048 characters",
    });
  });
});

describe("schedule_at", () => {
  const at = (ms: number) => new Date(ms).toISOString();

  test("must be in the future and at most 7 days ahead", () => {
    const week = 7 * 24 * 3600 * 1000;
    expect(readOf({ schedule_at: at(now + 1) })).toMatchObject({ scheduleAt: now + 1 });
    expect(readOf({ schedule_at: at(now + week) })).toMatchObject({ scheduleAt: now + week });
    expect(errorsOf({ schedule_at: at(now) })).toEqual({ schedule_at: "must be in the future" });
    expect(errorsOf({ schedule_at: at(now - 1) })).toEqual({ schedule_at: "must be in the future" });
    expect(errorsOf({ schedule_at: at(now + week + 1) })).toEqual({
      schedule_at: "must be at most 7 days ahead",
    });
  });

  test("must be an ISO 8601 timestamp", () => {
    for (const schedule_at of ["tomorrow", "2026-01-16", "2026-02-30T10:00:00Z", "2026-01-16T10:00:00", ""]) {
      expect(errorsOf({ schedule_at }).schedule_at).toStartWith("must be an ISO 8601 timestamp");
    }
    expect(errorsOf({ schedule_at: now + 1000 })).toEqual({ schedule_at: "must be a string" });
  });
});

describe("tags and metadata", () => {
  test("at most 10 tags", () => {
    const tags = (count: number) => Array.from({ length: count }, (_, i) => `tag${i}`);
    expect(errorsOf({ tags: tags(10) })).toEqual({});
    expect(errorsOf({ tags: tags(11) })).toEqual({ tags: "must have at most 10 entries" });
    expect(errorsOf({ tags: "otp" })).toEqual({ tags: "must be an array of strings" });
  });

  test("a bad tag is reported by its index", () => {
    expect(errorsOf({ tags: ["a", 5, "x".repeat(257), "", "\0"] })).toEqual({
      tags: "4 of 5 entries are invalid",
      "tags.1": "must be a string",
      "tags.2": "must be at most 256 characters",
      "tags.3": "must not be empty",
      "tags.4": "must not contain NUL or unpaired surrogates",
    });
  });

  test("metadata is an object of bounded size and depth that can be stored", () => {
    const deep = (levels: number): unknown => (levels === 0 ? 1 : { a: deep(levels - 1) });
    expect(errorsOf({ metadata: { a: "x".repeat(16_000), b: [1, { c: null }], d: "\\u0000" } })).toEqual({});
    expect(errorsOf({ metadata: { a: "x".repeat(16_400) } })).toEqual({
      metadata: "must be at most 16384 characters of JSON",
    });
    const around = JSON.stringify({ a: "" }).length;
    expect(errorsOf({ metadata: { a: "😀".repeat(16_384 - around) } })).toEqual({});
    expect(errorsOf({ metadata: { a: "😀".repeat(16_385 - around) } })).toHaveProperty("metadata");
    expect(errorsOf({ metadata: deep(20) })).toEqual({});
    expect(errorsOf({ metadata: deep(21) })).toEqual({ metadata: "must be nested at most 20 levels deep" });
    expect(
      errorsOf({ metadata: JSON.parse(`{"a":${"[".repeat(50_000)}${"]".repeat(50_000)}}`) }),
    ).toHaveProperty("metadata");
    for (const metadata of [{ a: "\0" }, { "\0": 1 }, { a: ["\udc00"] }]) {
      expect(errorsOf({ metadata })).toEqual({ metadata: "must not contain NUL or unpaired surrogates" });
    }
    expect(errorsOf({ metadata: [] })).toEqual({ metadata: "must be an object" });
  });

  test("metadata with a number that reading rounds is refused, and not passed on as another", () => {
    const metadataOf = (number: string) => errorsOf({ metadata: JSON.parse(`{"a":[{"id":${number}}]}`) });
    for (const number of ["9007199254740991", "-9007199254740991", "1.5", "1e15", "1e-7", "null"]) {
      expect(metadataOf(number)).toEqual({});
    }
    expect(errorsOf({ metadata: { id: "12345678901234567890", note: "1e+400" } })).toEqual({});
    for (const number of ["9007199254740993", "-12345678901234567890", "1e22", "1e400"]) {
      expect(metadataOf(number)).toEqual({ metadata: expect.stringContaining("give them as strings") });
    }
  });
});
