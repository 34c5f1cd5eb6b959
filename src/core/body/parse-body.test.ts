import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import Type from "typebox";
import Format from "typebox/format";
import { Compile } from "typebox/schema";
import type { FieldErrors } from "./field-errors.ts";
import { parseBody } from "./parse-body.ts";

const Person = Type.Object({ email: Type.String({ minLength: 1 }), name: Type.Optional(Type.String()) });
const Letter = Type.Object({
  from: Person,
  to: Type.Array(Person, { minItems: 1, maxItems: 50 }),
  subject: Type.String({ minLength: 1, maxLength: 10 }),
  kind: Type.Optional(Type.Union([Type.String(), Type.Array(Type.String())])),
  copies: Type.Optional(Type.Integer({ minimum: 5, maximum: 9 })),
  platform: Type.Optional(Type.Enum(["apns", "fcm", "web"])),
  notes: Type.Optional(Type.Object({}, { additionalProperties: true })),
  code: Type.Optional(Type.String({ pattern: "^[0-9]{3}$" })),
  topic: Type.Optional(Type.String({ pattern: "^arn:[a-z]", examples: ["arn:aws:sns"] })),
  link: Type.Optional(Type.String({ pattern: "^https://", examples: ["https://example.com/hook"] })),
  values: Type.Optional(
    Type.Object({}, { additionalProperties: Type.Union([Type.String(), Type.Number()]), maxProperties: 2 }),
  ),
  size: Type.Optional(Type.Union([Type.Literal("small"), Type.Literal("large")])),
  rate: Type.Optional(Type.Number({ exclusiveMinimum: 0, maximum: 100 })),
  classes: Type.Optional(
    Type.Record(
      Type.String({ pattern: "^0x" }),
      Type.Union([Type.Literal("transient"), Type.Literal("permanent")]),
    ),
  ),
  codes: Type.Optional(Type.Record(Type.String(), Type.String({ pattern: "^[0-9]{3}$", examples: ["633"] }))),
});
const good = { from: { email: "a@b.c" }, to: [{ email: "d@e.f" }], subject: "hello" };
/** The same with every field. */
const whole = {
  ...good,
  kind: ["a"],
  copies: 5,
  platform: "fcm",
  notes: { any: null },
  code: "123",
  topic: "arn:x",
  link: "https://a",
  values: { "1": "x" },
  size: "small",
  rate: 0.5,
  classes: { "0x401": "transient" },
  codes: { "5308": "633" },
};

/** What becomes of a body that is judged by its schema alone. */
function judged(body: unknown) {
  return parseBody(Letter, body, (valid) => valid);
}

function errorsOf(body: unknown): FieldErrors {
  const parsed = judged(body);
  return "errors" in parsed ? parsed.errors : {};
}

describe("checking a body by its schema", () => {
  test("a good body is returned as it is", () => {
    expect(judged(good)).toEqual({ value: good });
  });

  test("what is not an object is refused under body", () => {
    for (const body of [null, undefined, [], "text", 1, true]) {
      expect(errorsOf(body)).toEqual({ body: "must be a JSON object" });
    }
  });

  test("a missing object reports itself and its required children, along with every other problem", () => {
    expect(errorsOf({})).toEqual({
      from: "required",
      "from.email": "required",
      to: "required",
      subject: "required",
    });
  });

  test("an object without a required child reports the child", () => {
    expect(errorsOf({ ...good, from: {} })).toEqual({ "from.email": "required" });
  });

  test("null in an optional field is absent", () => {
    const parsed = judged({ ...good, copies: null, from: { email: "a@b.c", name: null } });
    expect(parsed).toEqual({ value: good });
  });

  test("text that does not fit its pattern is refused, with what would fit where the schema has an example", () => {
    expect(errorsOf({ ...good, code: "12", topic: "sns" })).toEqual({
      code: "must match ^[0-9]{3}$",
      topic: "must look like arn:aws:sns",
    });
    expect(errorsOf({ ...good, code: "123", topic: "arn:x", link: "https://a" })).toEqual({});
  });

  test("text that has to begin in one way is told how, not what it might be", () => {
    expect(errorsOf({ ...good, link: "http://a" })).toEqual({ link: "must start with https://" });
  });

  test("unknown fields are ignored", () => {
    expect(errorsOf({ ...good, colour: "red" })).toEqual({});
  });

  test("each wrong type is named in words", () => {
    expect(
      errorsOf({
        from: "me",
        to: "you",
        subject: 7,
        kind: 7,
        copies: 5.5,
        platform: "ios",
        notes: [],
        values: { "1": true },
      }),
    ).toEqual({
      from: "must be an object",
      to: "must be an array of objects",
      subject: "must be a string",
      kind: "must be a string or an array of strings",
      copies: "must be an integer",
      platform: "must be one of apns, fcm, web",
      notes: "must be an object",
      "values.1": "must be a string or a number",
    });
  });

  test("a number that is too large to be read is called that", () => {
    const [subject, copies, value] = [JSON.parse("1e400"), JSON.parse("1e400"), JSON.parse("-1e400")];
    expect(errorsOf({ ...good, subject, copies, values: { "1": value } })).toEqual({
      subject: "must be a string",
      copies: "is too large a number",
      "values.1": "is too large a number",
    });
  });

  test("limits are named with their figures", () => {
    expect(
      errorsOf({ ...good, subject: "x".repeat(11), copies: 4, to: [], values: { a: 1, b: 2, c: 3 } }),
    ).toEqual({
      subject: "must be at most 10 characters",
      copies: "must be from 5 to 9",
      to: "must have 1 to 50 entries",
      values: "must have at most 2 entries",
    });
  });

  test("a choice is told with what there is to choose, also as a value of a map", () => {
    expect(
      errorsOf({
        ...good,
        size: "huge",
        rate: 0,
        classes: { "0x401": "never", "0x402": 7 },
        codes: { a: "b", c: 633 },
      }),
    ).toEqual({
      size: "must be one of small, large",
      rate: "must be more than 0",
      "classes.0x401": "must be one of transient, permanent",
      "classes.0x402": "must be one of transient, permanent",
      "codes.a": "must look like 633",
      "codes.c": "must be a string",
    });
    expect(errorsOf({ ...good, rate: 101 })).toEqual({ rate: "must be at most 100" });
  });

  test("lengths are counted in code points", () => {
    expect(errorsOf({ ...good, subject: "😀".repeat(10) })).toEqual({});
    expect(errorsOf({ ...good, subject: "😀".repeat(11) })).toHaveProperty("subject");
  });

  test("a bad entry is reported under its index, with a summary under the array", () => {
    expect(
      errorsOf({ ...good, to: [{ email: "a" }, {}, "x", { email: "" }, { email: "b", name: 1 }] }),
    ).toEqual({
      to: "4 of 5 entries are invalid",
      "to.1.email": "required",
      "to.2": "must be an object",
      "to.3.email": "required",
      "to.4.name": "must be a string",
    });
  });

  test("a name is echoed as text that every reader of JSON takes", () => {
    for (const name of [`x${"😀".repeat(40)}`, "\ud800"]) {
      const [echoed = ""] = Object.keys(errorsOf({ ...good, values: { [name]: true } }));
      expect(echoed).toStartWith("values.");
      expect(echoed.isWellFormed()).toBe(true);
    }
  });

  test("at most 20 bad entries are listed", () => {
    const listed = errorsOf({ ...good, to: Array.from({ length: 30 }, () => 1) });
    expect(listed.to).toBe("30 of 30 entries are invalid");
    expect(Object.keys(listed)).toHaveLength(21);
  });

  test("free objects keep their members when another field is broken", () => {
    let seen: unknown;
    parseBody(Letter, { ...good, subject: 1, notes: { a: null }, values: { "1": "x" } }, (valid) => {
      seen = valid;
    });
    expect(seen).toEqual({ from: good.from, to: good.to, notes: { a: null }, values: { "1": "x" } });
  });

  test("fields the schema refused are not judged again, the others are", () => {
    const parsed = parseBody(Letter, { ...good, subject: 1, to: [1, good.to[0]] }, (valid, errors) => {
      if (valid.subject !== undefined) errors.add("subject", "judged");
      valid.to?.forEach((entry, index) => {
        if (entry) errors.addEntry("to", { index, total: 2, at: `to.${index}.email`, reason: "judged" });
      });
    });
    expect(parsed).toEqual({
      errors: {
        subject: "must be a string",
        to: "2 of 2 entries are invalid",
        "to.0": "must be an object",
        "to.1.email": "judged",
      },
    });
  });

  test("whatever the body, the quick check and the description agree", () => {
    const odd = fc.oneof(fc.string(), fc.integer(), fc.constant(""), fc.jsonValue());
    const member = (valid: unknown) =>
      fc.oneof({ weight: 9, arbitrary: fc.constant(valid) }, { weight: 1, arbitrary: odd });
    const members = Object.entries({ ...whole, unknown: "field" }).map(([name, valid]) => [
      name,
      member(valid),
    ]);
    const body = fc.record<Record<string, unknown>>(Object.fromEntries(members), {
      requiredKeys: Object.keys(good),
    });
    const schema = Compile(Letter);
    const seen = { good: 0, bad: 0 };
    fc.assert(
      fc.property(body, (given) => {
        const parsed = judged(given);
        seen["value" in parsed ? "good" : "bad"]++;
        // A value that was mended or passed must satisfy the schema itself.
        if ("value" in parsed) expect(schema.Check(parsed.value)).toBe(true);
        else expect(Object.keys(parsed.errors).length).toBeGreaterThan(0);
      }),
    );
    expect(Math.min(seen.good, seen.bad)).toBeGreaterThan(0);
  });
});

test("a format is for readers: a body is judged without the library's pattern, which would take seconds for megabytes", () => {
  const schema = Type.Object({
    format: Type.String({ format: "email", maxLength: 9 }),
    at: Type.Optional(Type.Array(Type.String({ format: "date-time" }))),
  });
  const asked: string[] = [];
  for (const name of ["email", "date-time"]) Format.Set(name, () => asked.push(name) > 0);
  try {
    const judged = parseBody(schema, { format: "any", at: ["any"] }, (valid) => valid.format);
    expect(judged).toEqual({ value: "any" });
    expect(parseBody(schema, { format: "1234567890" }, () => 0)).toHaveProperty("errors.format");
    expect(asked).toEqual([]);
  } finally {
    Format.Reset();
  }
});
