import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { FieldErrors } from "../body/field-errors.ts";
import { INVALID_EMAIL_ADDRESS, parseSendEmail } from "./send-email.ts";

const now = Date.UTC(2026, 0, 15, 12);
const good = {
  from: { email: "shop@example.com" },
  to: [{ email: "asha@example.org" }],
  subject: "Hello",
  body_text: "Hi",
};
const ONE_OF_TWO = "either body_html or body_text is required";

function parse(body: unknown) {
  const parsed = parseSendEmail(body, now);
  return "value" in parsed ? { ...parsed, errors: {} as FieldErrors } : { ...parsed, value: undefined };
}
const errorsOf = (fields: object) => parse({ ...good, ...fields }).errors;
const readOf = (fields: object) => parse({ ...good, ...fields }).value;
const people = (count: number) => Array.from({ length: count }, (_, i) => ({ email: `p${i}@example.org` }));

describe("POST /v1/emails/messages: a good body", () => {
  test("absent fields are absent from the value", () => {
    expect(parse(good).value).toStrictEqual({
      from: { email: "shop@example.com" as never },
      to: [{ email: "asha@example.org" as never }],
      subject: "Hello",
      bodyText: "Hi",
    });
  });

  test("every field is taken over", () => {
    const body = {
      ...good,
      from: { email: "shop@example.com", name: "The Shop" },
      to: [{ email: "asha@example.org", name: "Asha" }, { email: "b@example.org" }],
      cc: [{ email: "c@example.org" }],
      bcc: [{ email: "d@example.org", name: "" }],
      body_html: "<p>Hi</p>",
      reply_to: "help@example.com",
      headers: { "X-Order": "1", "List-Unsubscribe": "<https://example.com/u>" },
      callback_url: "https://example.com/hook",
      schedule_at: "2026-01-16T12:00:00Z",
      tags: ["order"],
      metadata: { id: 7 },
    };
    expect(parse(body).value as unknown).toStrictEqual({
      from: body.from,
      to: body.to,
      cc: body.cc,
      bcc: [{ email: "d@example.org" }],
      subject: "Hello",
      bodyHtml: "<p>Hi</p>",
      bodyText: "Hi",
      replyTo: "help@example.com",
      headers: body.headers,
      callbackUrl: "https://example.com/hook",
      scheduleAt: now + 24 * 3600 * 1000,
      tags: ["order"],
      metadata: { id: 7 },
    });
  });

  test("null in an optional field is absent", () => {
    const names = ["cc", "bcc", "body_html", "reply_to", "headers", "callback_url", "schedule_at", "tags"];
    expect(readOf(Object.fromEntries(names.map((name) => [name, null])))).toStrictEqual(parse(good).value);
  });
});

describe("required fields", () => {
  test("an empty body names them all", () => {
    expect(parse({}).errors).toEqual({
      from: "required",
      "from.email": "required",
      to: "required",
      subject: "required",
      body_html: ONE_OF_TWO,
      body_text: ONE_OF_TWO,
    });
  });

  test("from.email and subject are `required` when missing or empty", () => {
    expect(errorsOf({ from: {}, subject: "" })).toEqual({ "from.email": "required", subject: "required" });
    expect(errorsOf({ from: { email: "" } })).toEqual({ "from.email": "required" });
    expect(errorsOf({ from: "shop@example.com" })).toEqual({ from: "must be an object" });
  });

  test("one of body_html and body_text is required, said under both", () => {
    const expected = { body_html: ONE_OF_TWO, body_text: ONE_OF_TWO };
    expect(errorsOf({ body_text: undefined })).toEqual(expected);
    expect(errorsOf({ body_text: "", body_html: null })).toEqual(expected);
    expect(errorsOf({ body_text: "", body_html: "" })).toEqual(expected);
    expect(readOf({ body_text: "", body_html: "<p>" })).not.toHaveProperty("bodyText");
    expect(readOf({ body_html: "" })).not.toHaveProperty("bodyHtml");
    expect(errorsOf({ body_text: 7 })).toEqual({ body_text: "must be a string" });
    expect(errorsOf({ body_text: undefined, body_html: 7 })).toEqual({ body_html: "must be a string" });
  });
});

describe("recipients", () => {
  test("to holds 1 to 50 entries", () => {
    expect(readOf({ to: people(50) })?.to).toHaveLength(50);
    expect(errorsOf({ to: [] })).toEqual({ to: "must have 1 to 50 entries" });
    expect(errorsOf({ to: people(51) })).toEqual({ to: "must have 1 to 50 entries" });
    expect(errorsOf({ to: "asha@example.org" })).toEqual({ to: "must be an array of objects" });
  });

  test.each(["cc", "bcc"])("%s holds at most 20 entries", (field) => {
    expect(errorsOf({ [field]: people(20) })).toEqual({});
    expect(errorsOf({ [field]: people(21) })).toEqual({ [field]: "must have at most 20 entries" });
  });

  test("to, cc and bcc hold at most 50 in total", () => {
    expect(errorsOf({ to: people(10), cc: people(20), bcc: people(20) })).toEqual({});
    expect(errorsOf({ to: people(11), cc: people(20), bcc: people(20) })).toEqual({
      to: "to, cc and bcc must have at most 50 recipients in total, not 51",
    });
  });

  test("a bad entry is reported under its index and field, with a summary", () => {
    expect(
      errorsOf({
        to: [...people(1), { email: "x" }, {}, "a@b.example", { email: "a@b.example", name: "x\r\nBcc: y" }],
        cc: [{ name: "no address" }],
      }),
    ).toEqual({
      to: "4 of 5 entries are invalid",
      "to.1.email": INVALID_EMAIL_ADDRESS,
      "to.2.email": "required",
      "to.3": "must be an object",
      "to.4.name": "must not contain line ends or control characters",
      cc: "1 of 1 entries is invalid",
      "cc.0.email": "required",
    });
  });

  test("at most 20 bad entries are listed", () => {
    const errors = errorsOf({ to: Array.from({ length: 50 }, () => ({ email: "x" })) });
    expect(Object.keys(errors)).toHaveLength(21);
    expect(errors.to).toBe("50 of 50 entries are invalid");
  });

  test("a name has at most 256 characters", () => {
    const named = (name: unknown) => ({ from: { email: "shop@example.com", name } });
    expect(errorsOf(named("é".repeat(256)))).toEqual({});
    expect(errorsOf(named("é".repeat(257)))).toEqual({ "from.name": "must be at most 256 characters" });
    expect(errorsOf(named(5))).toEqual({ "from.name": "must be a string" });
  });
});

describe("line by line", () => {
  test("the subject has at most 998 characters", () => {
    expect(errorsOf({ subject: "😀".repeat(998) })).toEqual({});
    expect(errorsOf({ subject: "x".repeat(999) })).toEqual({ subject: "must be at most 998 characters" });
  });

  test("CR, LF and NUL are refused in every name, address, subject and header value", () => {
    for (const mark of ["\r", "\n", "\0", "\r\nBcc: eve@example.org", "\u2028"]) {
      const text = `a${mark}b`;
      const errors = errorsOf({
        from: { email: `shop${mark}@example.com`, name: text },
        to: [{ email: `asha@example.org${mark}`, name: text }],
        cc: [{ email: "a@example.org", name: text }],
        subject: text,
        reply_to: `help${mark}@example.com`,
        headers: { "X-A": text, [`X-B${mark}`]: "x" },
      });
      expect(Object.keys(errors).sort()).toEqual([
        "cc",
        "cc.0.name",
        "from.email",
        "from.name",
        "headers",
        "headers.X-A",
        "reply_to",
        "subject",
        "to",
        "to.0.email",
        "to.0.name",
      ]);
    }
  });

  test("reply_to must be a valid email address", () => {
    for (const reply_to of ["", "help", "Help <help@example.com>", "a@example.com, b@example.com"]) {
      expect(errorsOf({ reply_to })).toEqual({ reply_to: INVALID_EMAIL_ADDRESS });
    }
  });

  test("bodies hold any text that can be stored", () => {
    expect(errorsOf({ body_text: "a\r\nb\tc\u2028" })).toEqual({});
    expect(errorsOf({ body_text: "\0", body_html: "\ud800" })).toEqual({
      body_text: "must not contain NUL or unpaired surrogates",
      body_html: "must not contain NUL or unpaired surrogates",
    });
  });
});

describe("headers", () => {
  test.each([
    ..."From Sender To Cc Bcc Reply-To Subject Date Message-ID MIME-Version Return-Path".split(" "),
    ..."Received DKIM-Signature ARC-Seal ARC-Anything Authentication-Results Resent-To".split(" "),
    ..."Content-Type Content-Transfer-Encoding Content-X Feedback-ID TLS-Required CFBL-Address".split(" "),
    ..."from BCC mime-version content-type".split(" "),
  ])("%s belongs to the service", (name) => {
    expect(errorsOf({ headers: { [name]: "x" } })).toEqual({
      [`headers.${name}`]: "is set by the service and cannot be given",
    });
  });

  test.each([
    ["X-SMTPAPI", '{"to":["ann@example.net"]}'],
    ["x-smtpapi", '{"\\u0074o" : ["ann@example.net"],"to2":1}'],
    ["X-SMTPAPI", '{"filters":{"bcc":{"settings":{"enable":1,"email":"ann@example.net"}}}}'],
    ["X-MSYS-API", '{"cc":[{"email":"ann@example.net"}]}'],
    ["X-MSYS-API", '{"archive":[{"email":"ann@example.net"}]}'],
    ["X-MC-BccAddress", "ann@example.net"],
  ])("%s may name nobody, past the suppression list: %s", (name, value) => {
    expect(errorsOf({ headers: { [name]: value } })).toEqual({
      [`headers.${name}`]:
        "names recipients to a provider, past the suppression list: give them in to, cc or bcc",
    });
  });

  test("what else they tell a provider is the caller's business", () => {
    const value = '{"category":"to","unique_args":{"order":"\\"to\\":42"},"sub":{"-to-":["x"]}}';
    const names = ["X-SMTPAPI", "X-MSYS-API", "X-SES-CONFIGURATION-SET", "X-MC-Tags", "X-Other"];
    expect(errorsOf({ headers: Object.fromEntries(names.map((name) => [name, value])) })).toEqual({});
    expect(errorsOf({ headers: { "X-Other": '{"to":1}' } })).toEqual({});
  });

  test("names are printable ASCII without colon", () => {
    for (const name of ["", "X A", "X:A", "X-é", "X-A\t", "x".repeat(77)]) {
      expect(errorsOf({ headers: { [name]: "x" } }).headers).toStartWith("names must be");
    }
  });

  test("a name is given once, except for X-", () => {
    expect(errorsOf({ headers: { "List-Id": "a", "list-id": "b" } })).toEqual({
      "headers.list-id": "must be given only once, in whatever case",
    });
    expect(errorsOf({ headers: { "X-A": "a", "x-a": "b" } })).toEqual({});
  });

  test("at most 50, values are strings of at most 998 characters", () => {
    const many = (count: number) =>
      Object.fromEntries(Array.from({ length: count }, (_, i) => [`X-${i}`, "v"]));
    expect(errorsOf({ headers: many(50) })).toEqual({});
    expect(errorsOf({ headers: many(51) })).toEqual({ headers: "must have at most 50 entries" });
    expect(errorsOf({ headers: { "X-A": "v".repeat(999), "X-B": 5 } })).toEqual({
      "headers.X-A": "must be at most 998 characters",
      "headers.X-B": "must be a string",
    });
    expect(errorsOf({ headers: ["X-A: b"] })).toEqual({ headers: "must be an object" });
  });

  test("each id of several fits on a line, and no value has half a character", () => {
    const long = { "headers.References": "has a word that is too long for a line of 998 octets" };
    const ofReferences = (value: string) => errorsOf({ headers: { References: value } });
    for (const value of [`a ${"b".repeat(996)}`, `${"b".repeat(996)} a`])
      expect(ofReferences(value)).toEqual(long);
    expect(ofReferences(`a ${"b".repeat(995)}`)).toEqual({});
    expect(Object.keys(errorsOf({ headers: { "X-A": "a\ud800" } }))).toEqual(["headers.X-A"]);
  });
});

describe("the fields shared with SMS", () => {
  test("callback_url, schedule_at, tags and metadata follow the same rules", () => {
    expect(
      errorsOf({
        callback_url: "http://example.com",
        schedule_at: "2026-01-15T12:00:00Z",
        tags: Array.from({ length: 11 }, () => "t"),
        metadata: "x",
      }),
    ).toEqual({
      callback_url: "must start with https://",
      schedule_at: "must be in the future",
      tags: "must have at most 10 entries",
      metadata: "must be an object",
    });
    expect(errorsOf({ schedule_at: "2026-01-22T12:00:00.001Z" })).toEqual({
      schedule_at: "must be at most 7 days ahead",
    });
  });

  test("no body makes it throw", () => {
    const names = Object.keys({ ...good, cc: 0, bcc: 0, headers: 0, reply_to: 0, body_html: 0, tags: 0 });
    const body = fc.record(Object.fromEntries(names.map((name) => [name, fc.jsonValue()])), {
      requiredKeys: [],
    });
    fc.assert(
      fc.property(body, (given) => void parseSendEmail(given, now)),
      { numRuns: 500 },
    );
  });
});
