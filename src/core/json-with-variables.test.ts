import { expect, test } from "bun:test";
import { jsonWithVariables } from "./json-with-variables.ts";

const FIELDS = { a: "x", b: undefined, c: [1, { "1": null }] };

for (const variables of [
  undefined,
  {},
  { "1": "x" },
  { "10": 1e21, "2": -0.5, "1": 'a"\\\n\u2028\ud83d\ude00', name: "" },
]) {
  test(`${JSON.stringify(variables)} stand behind the fields as JSON.stringify has them`, () => {
    expect(jsonWithVariables(FIELDS, variables)).toBe(JSON.stringify({ ...FIELDS, variables }));
  });
}
