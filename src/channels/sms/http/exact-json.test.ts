import { expect, test } from "bun:test";
import { documentOf } from "./callback-document.ts";
import { parseExactJson } from "./exact-json.ts";

test("ids beyond 2^53 stay apart, and are what the provider wrote", () => {
  const text = '{"ids":[9007199254740993,9007199254740992,-12345678901234567890],"n":4711,"x":1.5e300}';
  expect(parseExactJson(text)).toEqual({
    ids: ["9007199254740993", "9007199254740992", "-12345678901234567890"],
    n: 4711,
    x: 1.5e300,
  });
});

test("ids beyond 2^53 stay apart in callbacks too", () => {
  const callback = {
    method: "POST",
    url: "/",
    headers: new Headers({ "content-type": "application/json" }),
    body: '{"ref":9007199254740993}',
    receivedAt: 0,
  };
  expect(documentOf(callback, undefined)).toEqual({ ref: "9007199254740993" });
});

test.each(["", "<html>", '{"id":', `{"id":12345678901234567890}${"]".repeat(3)}`, "[".repeat(200_000)])(
  "what is no JSON is none: %#",
  (text) => expect(parseExactJson(text)).toBeUndefined(),
);
