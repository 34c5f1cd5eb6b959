import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { FieldErrors } from "./field-errors.ts";
import { INVALID_PHONE_NUMBER, parseSendSms } from "./send-sms.ts";

const now = Date.UTC(2026, 0, 15, 12);
const template_id = "0190a5c4-7b1e-7c3a-9f00-2b8d5e6f7a10";
const good = { to: "+919876543210", template_id };
const ONE_OF_TWO = "either template_id or dlt_template_id is required";

function parse(body: unknown, mode: "sandbox" | "live" = "sandbox") {
  const parsed = parseSendSms(body, { mode, now });
  return "value" in parsed ? { ...parsed, errors: {} as FieldErrors } : { ...parsed, value: undefined };
}
const errorsOf = (fields: object, mode: "sandbox" | "live" = "sandbox") =>
  parse({ ...good, ...fields }, mode).errors;
const readOf = (fields: object, mode: "sandbox" | "live" = "sandbox") =>
  parse({ ...good, ...fields }, mode).value;

describe("POST /v1/sms/messages: a good body", () => {
  test("absent fields are absent from the value", () => {
    expect(parse(good).value).toStrictEqual({
      to: ["+919876543210" as never],
      isBatch: false,
      templateId: template_id,
    });
  });

  test("every field is taken over", () => {
    const body = {
      to: ["98765 43210", "+14155550123", "9876543210"],
      from: "ACMECO",
      template_id: template_id.toUpperCase(),
      dlt_template_id: "1107161234567890123",
      dlt_entity_id: "1101172974420810001",
      variables: { "1": "Asha", "2": 7.5 },
      callback_url: "https://example.com:8443/hook?a=b",
      schedule_at: "2026-01-15T17:30:01+05:30",
      expire_after_seconds: 300,
      tags: ["otp"],
      metadata: { order: { id: 1, paid: null } },
      unknown: true,
    };
    expect(parse(body, "live").value).toStrictEqual({
      to: ["+919876543210", "+14155550123", "+919876543210"] as never,
      isBatch: true,
      from: "ACMECO",
      templateId: template_id,
      dltTemplateId: "1107161234567890123",
      dltEntityId: "1101172974420810001",
      variables: { "1": "Asha", "2": 7.5 },
      callbackUrl: "https://example.com:8443/hook?a=b",
      scheduleAt: now + 1000,
      expireAfterMs: 300_000,
      tags: ["otp"],
      metadata: { order: { id: 1, paid: null } },
    });
  });

  test("null in an optional field is absent", () => {
    const nulls = Object.fromEntries(
      ["from", "variables", "callback_url", "schedule_at", "tags", "metadata", "expire_after_seconds"].map(
        (name) => [name, null],
      ),
    );
    expect(readOf(nulls)).toStrictEqual(parse(good).value);
  });
});

describe("to", () => {
  test("missing, null or empty is `required`", () => {
    expect(errorsOf({ to: undefined })).toEqual({ to: "required" });
    expect(errorsOf({ to: null })).toEqual({ to: "required" });
    expect(errorsOf({ to: "" })).toEqual({ to: "required" });
  });

  test("a bad number is called one, and E.164 is named", () => {
    expect(errorsOf({ to: "12345" })).toEqual({ to: INVALID_PHONE_NUMBER });
    expect(INVALID_PHONE_NUMBER).toMatch(/invalid phone number.*E\.164/);
  });

  test("another type is refused", () => {
    expect(errorsOf({ to: 919876543210 })).toEqual({ to: "must be a string or an array of strings" });
  });

  test("an array holds 1 to 1,000 numbers", () => {
    const numbers = (count: number) => Array.from({ length: count }, () => "+919876543210");
    expect(readOf({ to: numbers(1) })).toMatchObject({ isBatch: true });
    expect(readOf({ to: numbers(1000) })?.to).toHaveLength(1000);
    expect(errorsOf({ to: numbers(1001) })).toEqual({ to: "must have 1 to 1000 entries" });
    expect(errorsOf({ to: [] })).toEqual({ to: "must have 1 to 1000 entries" });
  });

  test("bad entries are reported by index, with a summary that names E.164", () => {
    expect(errorsOf({ to: ["+919876543210", "x", "", 5, null] })).toEqual({
      to: "invalid phone number in 4 of 5 entries: expected E.164 format, for example +919876543210",
      "to.1": INVALID_PHONE_NUMBER,
      "to.2": INVALID_PHONE_NUMBER,
      "to.3": "must be a string",
      "to.4": "must be a string",
    });
  });

  test("at most 20 bad entries are listed", () => {
    const errors = errorsOf({ to: Array.from({ length: 500 }, () => "x") });
    expect(Object.keys(errors)).toHaveLength(21);
    expect(errors.to).toContain("in 500 of 500 entries");
  });
});

describe("template_id and dlt_template_id", () => {
  test("one of the two is required, said under both", () => {
    const expected = { template_id: ONE_OF_TWO, dlt_template_id: ONE_OF_TWO };
    expect(errorsOf({ template_id: undefined })).toEqual(expected);
    expect(errorsOf({ template_id: null, dlt_template_id: "" })).toMatchObject(expected);
  });

  test("either is enough", () => {
    expect(readOf({ template_id: undefined, dlt_template_id: "any" })).toMatchObject({
      dltTemplateId: "any",
    });
  });

  test("a broken one is reported for itself, not as missing", () => {
    expect(errorsOf({ template_id: 7 })).toEqual({ template_id: "must be a string" });
    expect(errorsOf({ template_id: undefined, dlt_template_id: 7 })).toEqual({
      dlt_template_id: "must be a string",
    });
  });

  test.each(["sandbox", "live"] as const)("template_id must be a UUID in a %s account", (mode) => {
    expect(errorsOf({ template_id: "welcome" }, mode)).toEqual({ template_id: "must be a UUID" });
  });

  test.each(["dlt_template_id", "dlt_entity_id"])("%s has 8 to 30 digits in a live account", (field) => {
    for (const id of ["12345678", "1".repeat(30)]) expect(errorsOf({ [field]: id }, "live")).toEqual({});
    for (const id of ["1234567", "1".repeat(31), "TEMPLATE1", "12345678 "]) {
      expect(errorsOf({ [field]: id }, "live")).toEqual({ [field]: "must be a DLT id of 8 to 30 digits" });
    }
  });

  test.each(["dlt_template_id", "dlt_entity_id"])(
    "%s is 1 to 64 visible characters in a sandbox",
    (field) => {
      for (const id of ["x", "T-1/a", "x".repeat(64)]) expect(errorsOf({ [field]: id })).toEqual({});
      for (const id of ["", "a b", "x".repeat(65), "x\n"]) {
        expect(errorsOf({ [field]: id })).toEqual({ [field]: "must be 1 to 64 visible characters" });
      }
    },
  );
});

describe("variables", () => {
  test("at most 20", () => {
    const variables = (count: number) =>
      Object.fromEntries(Array.from({ length: count }, (_, i) => [String(i + 1), "x"]));
    expect(errorsOf({ variables: variables(20) })).toEqual({});
    expect(errorsOf({ variables: variables(21) })).toEqual({ variables: "must have at most 20 entries" });
  });

  test("keys are numeric strings", () => {
    for (const key of ["name", "0", "01", "-1", "1.5", "", "__proto__"]) {
      expect(errorsOf({ variables: JSON.parse(`{${JSON.stringify(key)}:"x"}`) })).toEqual({
        variables: 'keys must be numeric strings: "1", "2", ...',
      });
    }
  });

  test("values are strings or numbers that can be stored", () => {
    expect(errorsOf({ variables: { "1": "a", "2": 5, "3": "" } })).toEqual({});
    expect(errorsOf({ variables: { "1": { a: 1 }, "2": "\0", "3": "\ud800" } })).toEqual({
      "variables.1": "must be a string or a number",
      "variables.2": "must not contain NUL or unpaired surrogates",
      "variables.3": "must not contain NUL or unpaired surrogates",
    });
    expect(errorsOf({ variables: ["a"] })).toEqual({ variables: "must be an object" });
  });
});

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

describe("the other fields", () => {
  test("expire_after_seconds is an integer from 5 to 86400", () => {
    for (const seconds of [5, 86_400]) {
      expect(readOf({ expire_after_seconds: seconds })).toMatchObject({ expireAfterMs: seconds * 1000 });
    }
    for (const seconds of [4, 86_401, -5, 0]) {
      expect(errorsOf({ expire_after_seconds: seconds })).toEqual({
        expire_after_seconds: "must be from 5 to 86400",
      });
    }
    for (const seconds of [5.5, "60", true]) {
      expect(errorsOf({ expire_after_seconds: seconds })).toEqual({
        expire_after_seconds: "must be an integer",
      });
    }
  });

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

  test("from is 1 to 20 printable ASCII characters", () => {
    for (const from of ["A", "ACMECO", "+14155550100", "Acme Shop", "x".repeat(20)]) {
      expect(errorsOf({ from })).toEqual({});
    }
    for (const from of ["", " ", " A", "A ", "A\n", "Größe", "x".repeat(21), 5]) {
      expect(errorsOf({ from })).toHaveProperty("from");
    }
  });

  test("metadata is an object of bounded size and depth that can be stored", () => {
    const deep = (levels: number): unknown => (levels === 0 ? 1 : { a: deep(levels - 1) });
    expect(errorsOf({ metadata: { a: "x".repeat(16_000), b: [1, { c: null }], d: "\\u0000" } })).toEqual({});
    expect(errorsOf({ metadata: { a: "x".repeat(16_400) } })).toEqual({
      metadata: "must be at most 16384 characters of JSON",
    });
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

  test("all problems are reported at once", () => {
    expect(
      Object.keys(
        parse({ to: "x", from: 1, variables: { a: 1 }, callback_url: "http://x", expire_after_seconds: 1 })
          .errors,
      ).sort(),
    ).toEqual([
      "callback_url",
      "dlt_template_id",
      "expire_after_seconds",
      "from",
      "template_id",
      "to",
      "variables",
    ]);
  });

  test("no body makes it throw", () => {
    const names = [
      "to",
      "from",
      "template_id",
      "dlt_template_id",
      "variables",
      "callback_url",
      "schedule_at",
    ];
    const fields = [...names, "tags", "metadata", "expire_after_seconds", "__proto__"];
    const body = fc.oneof(
      fc.jsonValue(),
      fc.record(Object.fromEntries(fields.map((name) => [name, fc.jsonValue()])), { requiredKeys: [] }),
    );
    fc.assert(
      fc.property(body, (given) => void parseSendSms(given, { mode: "live", now })),
      { numRuns: 500 },
    );
  });
});
