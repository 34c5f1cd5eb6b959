import { expect, test } from "bun:test";
import type { StatusClass } from "../wire/status-words.ts";
import { toSubmitResult } from "./submit-result.ts";

test("a connector's own class of a status replaces the table's wait too", () => {
  const statusClasses = new Map<number, StatusClass>([
    [0x14, "transient"],
    [0x402, "throttled"],
  ]);
  const waitAfter = (status: number, classes: ReadonlyMap<number, StatusClass>) => {
    const reading = { statusClasses: classes, idFormat: "same", hasReceipts: true } as const;
    const { outcome } = toSubmitResult({ kind: "answered", status, messageId: "" }, reading, "+31612345678");
    return outcome.kind === "deferred" ? (outcome.retryAfterMs ?? "as ever") : outcome.kind;
  };
  expect([0x14, 0x402, 0x58].map((status) => waitAfter(status, new Map()))).toEqual([
    30_000,
    "rejected",
    1000,
  ]);
  expect([0x14, 0x402].map((status) => waitAfter(status, statusClasses))).toEqual(["as ever", 1000]);
});
