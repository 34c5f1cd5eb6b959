import { expect, test } from "bun:test";
import { createHeldClock } from "../../../test/fakes/held-clock.ts";
import { createRefusalCounts } from "./refusal-counts.ts";

test("a full memory lets newcomers through and keeps the counts it has", () => {
  const counts = createRefusalCounts(createHeldClock(), 2);
  expect(counts.refuses("a", 3)).toBe(true);
  expect(counts.refuses("b", 3)).toBe(true);
  expect(counts.refuses("c", 3)).toBe(false);
  expect(counts.refuses("a", 3)).toBe(true);
  expect(counts.refuses("a", 3)).toBe(true);
  expect(counts.refuses("a", 3)).toBe(false);
});

test("counts nobody has asked for in a minute make room", async () => {
  const clock = createHeldClock();
  const counts = createRefusalCounts(clock, 2);
  counts.refuses("a", 3);
  counts.refuses("b", 3);
  await clock.advance(60_000);
  expect(counts.refuses("c", 3)).toBe(true);
});

test("what was let through is forgotten", () => {
  const counts = createRefusalCounts(createHeldClock());
  expect([1, 2, 3].map(() => counts.refuses("a", 1))).toEqual([true, false, true]);
});
