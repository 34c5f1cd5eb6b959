import { describe, expect, test } from "bun:test";
import { createErrors } from "./field-errors.ts";

describe("collecting errors", () => {
  test("the first sentence of a field counts", () => {
    const errors = createErrors();
    errors.add("a", "first");
    errors.add("a", "second");
    expect(errors.list()).toEqual({ a: "first" });
  });

  test("an array can have its own summary", () => {
    const errors = createErrors();
    errors.summarise("to", (bad, total) => `${bad}/${total}`);
    expect(errors.isEmpty()).toBe(true);
    errors.addEntry("to", { index: 3, total: 9, at: "to.3", reason: "bad" });
    expect(errors.list()).toEqual({ to: "1/9", "to.3": "bad" });
  });
});
