import { expect, test } from "bun:test";
import fc from "fast-check";
import { jsonFault } from "./json-fault.ts";

test.each([
  ["", "line 1, column 1: expected a value, not the end"],
  ["{'to':1}", `line 1, column 2: expected a name in double quotes or }, not "'"`],
  ['{"to":"+91",}', 'line 1, column 13: expected a name in double quotes, not "}"'],
  ['{\n  "a": [1, 2,]\n}', 'line 2, column 14: expected a value, not "]"'],
  ['{"a":1 "b":2}', 'line 1, column 8: expected a comma or }, not "\\""'],
  ['{"a":[1 2]}', 'line 1, column 9: expected a comma or ], not "2"'],
  ['{"a" 1}', 'line 1, column 6: expected a colon, not "1"'],
  ['{"a":1}}', 'line 1, column 8: expected nothing more, not "}"'],
  ['{"a":', "line 1, column 6: expected a value, not the end"],
  ['{"a":1', "line 1, column 7: expected a comma or }, not the end"],
  ['{"a":01}', 'line 1, column 6: expected a value, not "0"'],
  ['{"a":None}', 'line 1, column 6: expected a value, not "N"'],
  ["[}", 'line 1, column 2: expected a value or ], not "}"'],
  ["{“a”:1}", 'line 1, column 2: expected a name in double quotes or }, not "“"'],
])("%j: %s", (text, fault) => {
  expect(jsonFault(text)).toBe(fault);
});

test("a string that is not right is told by where it begins", () => {
  for (const text of ['{"a":"b}', '{"a":"b\nc"}', '{"a":"\\d"}'])
    expect(jsonFault(text)).toStartWith("line 1, column 6: a string that does not end, or has");
});

test("a fault is found exactly where the runtime finds one", () => {
  const spoilt = fc
    .tuple(
      fc.json(),
      fc.nat(200),
      fc.nat(3),
      fc.constantFrom("", ",", "}", "]", '"', ":", "1", "\\", " ", "x"),
    )
    .map(([text, at, cut, put]) => text.slice(0, at) + put + text.slice(at + cut));
  let faults = 0;
  fc.assert(
    fc.property(spoilt, (text) => {
      const fault = jsonFault(text);
      if (fault !== undefined) faults++;
      expect(fault === undefined).toBe(isJson(text));
    }),
    { numRuns: 3_000 },
  );
  expect(faults).toBeGreaterThan(500);
});

test("nothing is looked for in a text that is longer than people write", () => {
  expect(jsonFault(`{"a":"${"x".repeat(20_000)}",}`)).toBeUndefined();
});

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
