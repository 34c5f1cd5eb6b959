import { expect, test } from "bun:test";
import { readFirst, sourceProblem } from "./source.ts";

const from = (text: string) => ({ json: undefined, text, header: () => undefined });

test("a pattern gives its first group, or all of it where it has none, or nothing", () => {
  const text = "success | 919876543210 | 3312-abc";
  expect(readFirst({ match: "^\\s*success\\s*\\|[^|]*\\|\\s*([^|\\s]+)" }, from(text))).toBe("3312-abc");
  expect(readFirst({ match: "[0-9]{12}" }, from(text))).toBe("919876543210");
  expect(readFirst({ match: "(error)?suc" }, from(text))).toBe("suc");
  expect(readFirst({ match: "^error" }, from(text))).toBeUndefined();
});

/** The runtime's own regular expressions take from two seconds to more than twenty for each; nothing could interrupt them. */
test("no pattern and no text hold the process up", () => {
  for (const match of ["a*a*a*a*a*a*b", "^(\\w+\\s?)*$", "(a|a)*b", "(a?){30}a{30}b"]) {
    expect(readFirst({ match }, from(`${"a".repeat(4_000)}!`))).toBeUndefined();
  }
});

test("what is no pattern, or one that may take any time, is refused with what is wrong with it", () => {
  expect(sourceProblem({ match: "(" })).toContain("missing closing )");
  expect(sourceProblem({ match: "(?=a)b" })).toContain("(?=");
  expect(sourceProblem({ match: "(a)\\1" })).toContain("no regular expression that RE2 knows");
  expect(sourceProblem({ match: "^ok (\\d+)" })).toBeUndefined();
});

test("a pattern from before, which only the runtime knows, is read as it was", () => {
  expect(readFirst({ match: "id=(?!0)(\\d+)" }, from("id=42"))).toBe("42");
});
