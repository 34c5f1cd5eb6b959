import { expect, test } from "bun:test";
import { NOUNS, nameOf } from "./nouns.ts";

test("a domain that is not verified says which required records are wrong, and how", () => {
  const domains = NOUNS.find(({ name }) => name === "domains");
  const verify = domains?.actions?.find(({ path }) => path === "verify");
  const records = [
    { name: "a.example", role: "required", ok: false, problem: "another value" },
    { name: "b.example", role: "required", ok: false },
    { name: "c.example", role: "required", ok: true },
    { name: "d.example", role: "advised", ok: false },
  ];
  const { text, isGood } = verify?.outcome({ verified: false, records }) ?? {};
  expect(isGood).toBe(false);
  expect(text?.split("\n").slice(1)).toEqual(["a.example: another value", "b.example: missing"]);
  expect(verify?.outcome({ verified: true, records })).toEqual({ text: "Verified", isGood: true });
});

test("a record is called by its first column, or by its id where that was erased", () => {
  const suppressions = { name: "suppressions", columns: ["email", "id"] };
  expect(nameOf(suppressions, { id: "1", email: "a@example.com" })).toBe("a@example.com");
  expect(nameOf(suppressions, { id: "1" })).toBe("1");
  expect(nameOf({ name: "routes", columns: ["match"] }, { id: "1", channel: "sms", match: "91" })).toBe(
    "sms to 91…",
  );
});
