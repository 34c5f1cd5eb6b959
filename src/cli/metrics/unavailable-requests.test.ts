import { expect, test } from "bun:test";
import { createHeldClock } from "../../../test/fakes/held-clock.ts";
import { createUnavailableRequests } from "./unavailable-requests.ts";

test("requests that got a 503 count for a minute, and no others do", async () => {
  const clock = createHeldClock();
  const unavailable = createUnavailableRequests(clock);
  for (const status of [202, 400, 429, 500, 503]) unavailable.note({ operation: "sendSms", status });
  unavailable.note({ operation: "readyz", status: 503 });
  await clock.advance(30_000);
  unavailable.note({ operation: "sendEmail", status: 503 });
  unavailable.note({ operation: "sendEmail", status: 503 });
  expect(unavailable.inLastMinute()).toBe(3);
  await clock.advance(30_000);
  expect(unavailable.inLastMinute()).toBe(2);
  await clock.advance(30_000);
  expect(unavailable.inLastMinute()).toBe(0);
});
