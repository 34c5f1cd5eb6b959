import { expect, test } from "bun:test";
import { retriesSection } from "./retry-tables.ts";

test("a channel's waits and its limit are a row", () => {
  const section = retriesSection({
    sms: { waitsMs: [5_000, 90_000, 120_000], maxAttempts: 20 },
    email: { waitsMs: [3_600_000] },
  });
  expect(section.split("\n").slice(-3)).toEqual([
    "| sms | 5 s, 90 s, then 2 min each time | after 20 attempts, or when its delivery window ends |",
    "| email | then 1 h each time | when its delivery window ends |",
    "",
  ]);
});
