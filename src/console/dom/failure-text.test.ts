import { expect, test } from "bun:test";
import { Failure } from "../client.ts";
import { failureText } from "./failure-text.ts";

test("a refusal is told with its details", () => {
  const refused = new Failure(400, "validation failed", { to: "must be a number", tag: "is too long" });
  expect(failureText(refused)).toBe("Validation failed: to must be a number; tag is too long");
  const inUse = new Failure(409, "conflict", { id: "the connector is in use" });
  expect(failureText(inUse)).toBe("Conflict: the connector is in use");
});

test("no answer and an outage are told in words", () => {
  expect(failureText(new Failure(0, "no answer"))).toContain("connection is down");
  expect(failureText(new Failure(503, "service unavailable"))).toBe(
    "Postrider or its database is unavailable at the moment.",
  );
});
