import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { renderTemplate, templatePlaceholders, valueText } from "./template.ts";

describe("rendering a template", () => {
  test("DLT placeholders take the variables in order, numbered ones by number", () => {
    expect(
      renderTemplate("Hi {#var#}, {#numeric#} at {#url#}", { "1": "Asha", "2": 7, "3": "x.in" }),
    ).toEqual({
      text: "Hi Asha, 7 at x.in",
    });
    expect(renderTemplate("{{2}} {{1}} {{2}}", { "1": "a", "2": "b" })).toEqual({ text: "b a b" });
    expect(renderTemplate("#number# {#var#}", { "1": 5, "2": "x" })).toEqual({ text: "5 x" });
  });

  test("a text without placeholders is its own rendering, extra variables or not", () => {
    expect(renderTemplate("Hello # {x} {#} {{0}} {{a}}", { "1": "x" })).toEqual({
      text: "Hello # {x} {#} {{0}} {{a}}",
    });
  });

  test("a number is written out, without an exponent, and stays the same number", () => {
    const written = renderTemplate("{{1}} of {{2}}, {{3}}", { "1": 0.00000012, "2": -5e-7, "3": 0.000001 });
    expect(written).toEqual({ text: "0.00000012 of -0.0000005, 0.000001" });
    expect([0, -0, 7, 1.5, 123456789012345.6].map(valueText)).toEqual([
      "0",
      "0",
      "7",
      "1.5",
      "123456789012345.6",
    ]);
    const values = fc.double({ noNaN: true, min: -Number.MAX_SAFE_INTEGER, max: Number.MAX_SAFE_INTEGER });
    fc.assert(
      fc.property(values, (value) => {
        expect(valueText(value)).toMatch(/^-?\d+(\.\d+)?$/);
        expect(Number(valueText(value)) === value).toBe(true);
      }),
    );
  });

  test("a missing variable is named once", () => {
    expect(renderTemplate("{{3}} {{1}} {{3}} {{2}}", { "2": "" })).toEqual({ missing: ["3", "1"] });
    expect(renderTemplate("{#var#}{#var#}", { "1": "x" })).toEqual({ missing: ["2"] });
    expect(renderTemplate("{{1}}", Object.create({ "1": "inherited" }))).toEqual({ missing: ["1"] });
  });

  test("values are never read as templates, whatever they hold", () => {
    expect(renderTemplate("{#var#}-{#var#}", { "1": "{#var#}{{2}}", "2": "$&$1" })).toEqual({
      text: "{#var#}{{2}}-$&$1",
    });
    fc.assert(
      fc.property(fc.string(), fc.string(), (a, b) => {
        expect(renderTemplate("<{#var#}|{{2}}>", { "1": a, "2": b })).toEqual({ text: `<${a}|${b}>` });
      }),
    );
  });
});

describe("listing placeholders", () => {
  test("each has the name of its variable and the kind of its tag", () => {
    const text =
      "{#var#}{#numeric#}{#number#}{#alphanumeric#}{#url#}{#urlott#}{#cbn#}{#email#}#number#{#new#}";
    const kinds = "var numeric numeric alphanumeric url urlott cbn email numeric var".split(" ");
    expect(templatePlaceholders(text) as unknown).toEqual(
      kinds.map((kind, i) => ({ name: String(i + 1), kind })),
    );
  });

  test("a repeated number is listed once", () => {
    expect(templatePlaceholders("{{2}} {{1}} {{2}}")).toEqual([
      { name: "2", kind: "var" },
      { name: "1", kind: "var" },
    ]);
    expect(templatePlaceholders("none")).toEqual([]);
  });
});
