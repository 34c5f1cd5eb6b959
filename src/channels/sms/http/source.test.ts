import { expect, test } from "bun:test";
import { readAll, readFirst, sourceProblem } from "./source.ts";

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

test("a pattern whose group is empty gives nothing more than that", () => {
  expect(readFirst({ match: "id=(\\d*)" }, from("id="))).toBe("");
});

test("a pattern looks at the first 4,096 characters of a value", () => {
  const at = (place: number) => readFirst({ match: "ok" }, from(`${" ".repeat(place)}ok`));
  expect([at(4_094), at(4_095)]).toEqual(["ok", undefined]);
});

test("a pointer finds own members by their written names, entries of lists, and what has a text", () => {
  const json = {
    "a/b": { "~1": "slash" },
    list: [{ v: 1 }, { v: true }, { v: null }, { v: {} }],
    map: { x: 1 },
  };
  const found = (pointer: string) => readAll({ json: pointer }, { ...from(""), json });
  expect(found("/a~1b/~01")).toEqual(["slash"]);
  expect(found("/list/*/v")).toEqual(["1", "true"]);
  expect(found("/list/1/v")).toEqual(["true"]);
  for (const nothing of ["/map/*", "/toString", "/constructor/name", "/list/9", "/list/*/v/x"]) {
    expect(found(nothing)).toEqual([]);
  }
});

test("of a list without end no more is read than an answer can hold", () => {
  const json = Array.from({ length: 5_001 }, (_, index) => index);
  expect(readAll({ json: "/*" }, { ...from(""), json })).toHaveLength(5_000);
});
