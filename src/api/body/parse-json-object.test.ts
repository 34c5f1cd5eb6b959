import { expect, test } from "bun:test";
import fc from "fast-check";
import { parseJsonObject } from "./parse-json-object.ts";

function problemOf(text: string) {
  const parsed = parseJsonObject(text);
  return "problem" in parsed ? parsed.problem.body : undefined;
}

test("any object that JSON.stringify wrote is read back as it was", () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 4 })), fc.nat(3), (object, indent) => {
      const text = JSON.stringify(object, undefined, indent);
      if (text.includes("__proto__")) return;
      expect(parseJsonObject(text)).toEqual({ json: JSON.parse(text) });
    }),
  );
});

test("a name that stands twice in one object is found, however it is written and wherever it stands", () => {
  for (const text of [
    '{"a":1,"a":1}',
    '{"a":1, "b": {"c":[{"d":1 , "d" :2}]}}',
    '{"a":1,"\\u0061":2}',
    '{"x":"\\":","a":1,"a"\n:2}',
    '{"a\\\\":1,"a\\\\":2}',
    '{"a":[1],"b":1,"b":2}',
    '{"a":[{"c":[]},2],"b":1,"b":2}',
    '{"a":[{"b":1},{"b":1,"c":[{}],"b":2}]}',
  ]) {
    expect(problemOf(text)).toContain("twice");
  }
});

test("what only looks like a repeated name is let through", () => {
  for (const text of [
    '{"a":{"a":1},"b":[{"a":1},{"a":2}]}',
    '{"a":"\\"a\\":1,\\"a\\":2"}',
    '{"a":":","b":"\\":"}',
    '{"a":[{"b":1}],"b":[{"a":2}],"c":"\\":"}',
  ]) {
    expect(problemOf(text)).toBeUndefined();
  }
});

test("__proto__ is refused as a name and let through as a value", () => {
  expect(problemOf('{"a":{"__proto__":{}}}')).toContain("__proto__");
  expect(problemOf('{"a":[{"b":[[{"__proto__":1}]]},{"c":1}]}')).toContain("__proto__");
  expect(problemOf('{"\\u005f_proto__":1}')).toContain("__proto__");
  expect(problemOf('{"a":"__proto__"}')).toBeUndefined();
});

test("64 levels are read, more are refused", () => {
  const nested = (levels: number) => `{"a":${"[".repeat(levels)}${"]".repeat(levels)}}`;
  expect(problemOf(nested(64))).toBeUndefined();
  expect(problemOf(nested(65))).toContain("deeper");
});

test("15,000 values are read, more are refused, whatever they are", () => {
  const list = (value: string, count: number) => `{"a":[${Array.from({ length: count }, () => value)}]}`;
  const named = (count: number) =>
    `{${Array.from({ length: count }, (_, index) => `"name-${index}":"value"`)}}`;
  // The body itself is one, and so is the list.
  for (const value of ["1", "{}", "[]"]) {
    expect(problemOf(list(value, 14_998))).toBeUndefined();
    expect(problemOf(list(value, 14_999))).toBe("must not contain more than 15000 values");
  }
  expect(problemOf(named(14_999))).toBeUndefined();
  expect(problemOf(named(15_000))).toContain("15000");
  expect(problemOf(list('{"a":[1]}', 6_000))).toContain("15000");
  expect(problemOf(`{"a":"${"[1],".repeat(100_000)}"}`)).toBeUndefined();
  expect(problemOf(`{"a":"${'\\\\\\",'.repeat(60_000)}"}`)).toBeUndefined();
});

test("a text that shows too many values is refused without being parsed, and one that breaks off is read to its end", () => {
  expect(problemOf(`{"a":[${"{},".repeat(15_000)}`)).toContain("15000");
  for (const end of ["", "\\", '"', ","]) {
    expect(problemOf(`{"a":"${"x".repeat(200_000)}${end}`)).toBe("must be valid JSON");
  }
});
