import { expect, test } from "bun:test";
import { readCallback } from "./read-callback.ts";

test("a callback as long as it may be is read to its end", () => {
  const reports = Array.from({ length: 6_000 }, (_, index) => ({ id: `${100_000 + index}`, s: "DELIVRD" }));
  const body = JSON.stringify(reports);
  expect(body.length).toBeLessThan(256 * 1024);
  const reading = readCallback(
    {
      connector: { id: "c-1", secrets: {} },
      provider: "custom",
      description: { id: { json: "/id" }, status: [{ json: "/s" }], statuses: { DELIVRD: "delivered" } },
      dltCodes: {},
      hasOwnIds: false,
    },
    { method: "POST", url: "/", headers: new Headers(), body, receivedAt: 1 },
  );
  expect(reading).toMatchObject({ kind: "receipts", receipts: { length: 6_000 } });
});
