import { expect, test } from "bun:test";
import { getEventListeners } from "node:events";
import { createHeldClock } from "../../../test/fakes/held-clock.ts";
import { waitAtMost } from "./wait-at-most.ts";

function begin(signal?: AbortSignal) {
  const clock = createHeldClock();
  const line = new Set<(value: string | undefined) => void>();
  const limits = { limitMs: 100, ...(signal && { signal }) };
  const waited = waitAtMost<string>(clock, limits, (end) => {
    line.add(end);
    return () => line.delete(end);
  });
  return { clock, line, waited };
}

test("a wait ends with what it is told, when its time is up, or on abort, and leaves nothing behind", async () => {
  const told = begin();
  for (const end of told.line) end("told");
  expect([await told.waited, told.line.size]).toEqual(["told", 0]);
  const late = begin();
  await late.clock.advance(100);
  expect([await late.waited, late.line.size]).toEqual([undefined, 0]);
  const stopping = new AbortController();
  const aborted = begin(stopping.signal);
  stopping.abort();
  expect([await aborted.waited, aborted.line.size]).toEqual([undefined, 0]);
  expect(getEventListeners(stopping.signal, "abort")).toEqual([]);
  const tooLate = begin(stopping.signal);
  expect([await tooLate.waited, tooLate.line.size]).toEqual([undefined, 0]);
});
