import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { FieldErrors } from "../body/field-errors.ts";
import { INVALID_PHONE_NUMBER } from "./phone-number.ts";
import { parseSendSms } from "./send-sms.ts";

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
    "%s is 1 to 64 visible ASCII characters in a sandbox",
    (field) => {
      for (const id of ["x", "T-1/a", "x".repeat(64)]) expect(errorsOf({ [field]: id })).toEqual({});
      for (const id of ["", "a b", "é", "x".repeat(65), "x\n"]) {
        expect(errorsOf({ [field]: id })).toEqual({ [field]: "must be 1 to 64 visible ASCII characters" });
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

  test("from is 1 to 20 printable ASCII characters, with blanks only between others", () => {
    for (const from of ["A", "ACMECO", "+14155550100", "Acme Shop", "x".repeat(20)]) {
      expect(errorsOf({ from })).toEqual({});
    }
    for (const from of ["", "x".repeat(21), 5]) expect(errorsOf({ from })).toHaveProperty("from");
    for (const from of [" ", " A", "A ", "A\n", "Größe"]) {
      expect(errorsOf({ from })).toEqual({
        from: "must be 1 to 20 printable ASCII characters, neither the first nor the last a blank",
      });
    }
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
