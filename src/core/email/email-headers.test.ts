import { expect, test } from "bun:test";
import { createErrors } from "../body/field-errors.ts";
import { judgeHeaders, UNSUBSCRIBE_HEADERS } from "./email-headers.ts";

function errorsOf(headers: Readonly<Record<string, string>>, alsoOwned: readonly string[] = []) {
  const errors = createErrors();
  judgeHeaders(headers, errors, alsoOwned);
  return errors.list();
}

test("a word fills a line behind its blank, and one outside ASCII may be longer, since it is encoded in pieces", () => {
  expect(errorsOf({ "X-A": "v".repeat(997), "X-B": "é".repeat(998) })).toEqual({});
  expect(Object.keys(errorsOf({ "X-A": "v".repeat(998) }))).toEqual(["headers.X-A"]);
});

test("names that the service sets for a message are refused in whatever case, and for that message only", () => {
  const given = { "LIST-Unsubscribe": "<https://acme.test/u>" };
  expect(errorsOf(given)).toEqual({});
  expect(errorsOf(given, UNSUBSCRIBE_HEADERS)).toEqual({
    "headers.LIST-Unsubscribe": "is set by the service and cannot be given",
  });
});
