import { expect, test } from "bun:test";
import { maskRecipient } from "./mask.ts";

test.each([
  ["919812345678", "9198******78"],
  ["+919812345678", "+919*******78"],
  ["57575", "***75"],
  ["5", "5"],
  ["", ""],
  ["ada@example.org", "a***@example.org"],
])("%s is shown as %s", (recipient, shown) => {
  expect(maskRecipient(recipient)).toBe(shown);
});
