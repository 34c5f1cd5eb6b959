import { expect, test } from "bun:test";
import { parsePlace, toHash, toQueryString } from "./place.ts";

test("a place that was written is read back", () => {
  const path = ["messages", "sms", "a/b %"];
  const query = { to: "+91 98&x=y", status: "failed" };
  expect(parsePlace(toHash(path, query))).toEqual({ path, query });
});

test("no hash, a lone slash and an unfinished escape are places too", () => {
  expect(parsePlace("")).toEqual({ path: [], query: {} });
  expect(parsePlace("#/")).toEqual({ path: [], query: {} });
  expect(parsePlace("#/contacts/%")).toEqual({ path: ["contacts", "%"], query: {} });
});

test("what is not given is left out of a query", () => {
  expect(toQueryString({ a: undefined, b: "" })).toBe("");
  expect(toQueryString({ a: "1", b: undefined })).toBe("?a=1");
});
