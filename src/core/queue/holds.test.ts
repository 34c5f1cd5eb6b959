import { expect, test } from "bun:test";
import { createHolds } from "./holds.ts";

const LEASE_MS = 60_000;

function open() {
  const clock = { ms: 0, monotonicMs: () => clock.ms };
  return { clock, holds: createHolds(clock) };
}

test("work is held until it has ended, once for each time it was begun", () => {
  const { holds } = open();
  const [letGo, , letGoAgain] = [holds.hold(1, LEASE_MS), holds.hold(2, LEASE_MS), holds.hold(1, LEASE_MS)];
  letGo();
  letGo();
  expect(holds.ids().toSorted()).toEqual([1, 2]);
  letGoAgain();
  expect(holds.ids()).toEqual([2]);
});

test("a process that stood still for an hour still holds its work, and has half a minute to end it", () => {
  const { clock, holds } = open();
  holds.hold(1, LEASE_MS);
  clock.ms = 3_600_000;
  expect(holds.ids()).toEqual([1]);
  clock.ms += 29_999;
  expect(holds.ids()).toEqual([1]);
  clock.ms += 1;
  expect(holds.ids()).toEqual([]);
});
