import { expect, test } from "bun:test";
import { jsonWithVariables } from "./json-with-variables.ts";

const BEFORE = { a: "x", b: undefined, c: [1, { "1": null }] };
const AFTER = { d: undefined, e: "" };

for (const variables of [
  undefined,
  {},
  { "1": "x" },
  { "10": 1e21, "2": -0.5, "1": 'a"\\\n\u2028\ud83d\ude00', name: "" },
]) {
  test(`${JSON.stringify(variables)} stand between the fields as JSON.stringify has them`, () => {
    expect(jsonWithVariables(BEFORE, variables)).toBe(JSON.stringify({ ...BEFORE, variables }));
    expect(jsonWithVariables(BEFORE, variables, AFTER)).toBe(
      JSON.stringify({ ...BEFORE, variables, ...AFTER }),
    );
  });
}
