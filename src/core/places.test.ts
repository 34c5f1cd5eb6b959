import { expect, test } from "bun:test";
import { createHeldClock } from "../../test/fakes/held-clock.ts";
import { createPlaces } from "./places.ts";

test("who finds no place waits in line until one is given back", async () => {
  const clock = createHeldClock();
  const places = createPlaces(clock, { count: 2, waitMs: 1_000 });
  const first = await places.enter();
  await places.enter();
  const came: number[] = [];
  const waiting = [3, 4].map(async (n) => {
    const leave = await places.enter();
    came.push(n);
    return leave;
  });
  first?.();
  (await waiting[0])?.();
  await waiting[1];
  expect(came).toEqual([3, 4]);
  expect(clock.pending()).toBe(0);
});

test("no wait is longer than its limit, and who has gone takes no place", async () => {
  const clock = createHeldClock();
  const places = createPlaces(clock, { count: 1, waitMs: 1_000 });
  const leave = await places.enter();
  const late = places.enter();
  await clock.advance(1_000);
  expect(await late).toBeUndefined();
  leave?.();
  const next = await places.enter();
  expect(next).toBeDefined();
  next?.();
  expect(await places.enter()).toBeDefined();
});
