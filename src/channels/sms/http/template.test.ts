import { describe, expect, test } from "bun:test";
import { cpuMsOf } from "../../../../test/cpu-time.ts";
import { isPlaceholder } from "./message-values.ts";
import { fillJson, fillTemplate, type Lookup, templateProblem } from "./template.ts";

const values: Readonly<Record<string, string>> = {
  to: "+919876543210",
  text: `a"b\\c&d=e\n{{secret.token}} %0d`,
  validity_seconds: "86400",
  encoding: "ucs2",
  "variables.1": "4711",
  "secret.token": "s3cret",
};
const lookup: Lookup = (name) => values[name];
const plain = (value: string) => value;

describe("a template", () => {
  test("is filled with its values, each escaped for where it stands", () => {
    expect(fillTemplate("to={{to}}&v={{variables.1}}", lookup, encodeURIComponent)).toBe(
      "to=%2B919876543210&v=4711",
    );
    expect(fillTemplate("{{text}}", lookup, encodeURIComponent)).not.toMatch(/[&="\n]/);
  });

  test("does not fill what a value brings along", () => {
    expect(fillTemplate("{{text}}", lookup, plain)).toContain("{{secret.token}}");
    expect(fillTemplate("{{text}}", lookup, plain)).not.toContain("s3cret");
  });

  test("has no text where one of its placeholders has no value", () => {
    expect(fillTemplate("{{to}} {{from}}", lookup, plain)).toBeUndefined();
    expect(fillTemplate("{{from|default:ACME}}", lookup, plain)).toBe("ACME");
  });

  test.each([
    ["{{validity_seconds|max:36000}}", "36000"],
    ["{{ validity_seconds | min:100000 }}", "100000"],
    ["{{encoding|map:gsm7=text,ucs2=unicode}}", "unicode"],
    ["{{to|as:19}}", "19"],
    ["{{encoding|max:160}}", "ucs2"],
    ["{{encoding|min:1}}", "ucs2"],
  ])("%s is %s", (template, filled) => expect(fillTemplate(template, lookup, plain)).toBe(filled));

  test("a map that does not name the value gives none", () => {
    expect(fillTemplate("{{encoding|map:gsm7=0}}", lookup, plain)).toBeUndefined();
  });

  test.each([
    ["{{tto}}", "there is no placeholder {{tto}}"],
    ["{{to|upper}}", "upper is no filter"],
    ["{{To}}", "a {{ begins no placeholder"],
    ["{{to", "a {{ begins no placeholder"],
  ])("%s is refused: %s", (template, problem) => {
    expect(templateProblem(template, isPlaceholder)).toStartWith(problem);
  });

  test("what is right has no problem", () => {
    expect(
      templateProblem("{{to_digits}} {{variables.12}} {{secret.token}} {x}", isPlaceholder),
    ).toBeUndefined();
  });
});

describe("a JSON template", () => {
  test("holds values as strings, and as numbers where that is said", () => {
    const filled = fillJson(
      { a: ["{{to}}"], n: "{{validity_seconds|max:10|number}}", t: "{{text}}", k: 1 },
      lookup,
    );
    expect(filled).toEqual({ a: [values.to], n: 10, t: values.text, k: 1 });
    expect(JSON.parse(JSON.stringify(filled)).t).toBe(values.text);
  });

  test("a value of very many zeros is filled in at once, whatever follows them", async () => {
    const zeros = "0".repeat(60_000);
    const fill = (value: string) => fillJson({ n: "{{text|number}}", m: "{{text|max:9}}" }, () => value);
    const cpuMs = await cpuMsOf(() => {
      expect(fill(`${zeros}x`)).toEqual({ n: `${zeros}x`, m: `${zeros}x` });
      expect(fill(`-${zeros}7`)).toEqual({ n: -7, m: "-7" });
    });
    expect(cpuMs).toBeLessThan(1_000);
  });

  test("leaves out what has no value, and what is empty without it", () => {
    expect(
      fillJson({ a: "{{from}}", b: { c: { d: "{{from}}" } }, e: ["{{from}}", "x"], f: {} }, lookup),
    ).toEqual({
      e: ["x"],
      f: {},
    });
  });
});
