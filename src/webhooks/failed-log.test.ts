import { expect, test } from "bun:test";
import { createHeldClock } from "../../test/fakes/held-clock.ts";
import { createFailedLog } from "./failed-log.ts";

const SECONDS = 1_000;

function begin() {
  const clock = createHeldClock();
  const told: unknown[][] = [];
  const tellFailed = createFailedLog({
    clock,
    log: { warn: ({ host, reason, webhook, count }) => void told.push([host, reason, webhook, count]) },
  });
  const fail = (host: string, webhook: string, reason = "gone") =>
    tellFailed({ account_id: "a", host, webhook, reason });
  return { clock, told, fail };
}

test("each host and each reason is told of at once, and the rest of a minute with the last of it", async () => {
  const { clock, told, fail } = begin();
  fail("a.test", "1");
  fail("b.test", "2");
  fail("a.test", "3", "spent");
  fail("a.test", "4");
  await clock.advance(59 * SECONDS);
  fail("a.test", "5");
  expect(told.splice(0)).toEqual([
    ["a.test", "gone", "1", 1],
    ["b.test", "gone", "2", 1],
    ["a.test", "spent", "3", 1],
  ]);
  await clock.advance(1 * SECONDS);
  fail("a.test", "6");
  expect(told).toEqual([["a.test", "gone", "6", 3]]);
});

test("what is left of a host's last minute is told with the next webhook that fails, of whatever host", async () => {
  const { clock, told, fail } = begin();
  for (const webhook of ["1", "2", "3"]) fail("a.test", webhook);
  await clock.advance(600 * SECONDS);
  fail("b.test", "4");
  expect(told).toEqual([
    ["a.test", "gone", "1", 1],
    ["b.test", "gone", "4", 1],
    ["a.test", "gone", "3", 2],
  ]);
});
