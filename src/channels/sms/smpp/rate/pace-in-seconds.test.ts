import { expect, test } from "bun:test";
import { createHeldClock } from "../../../../../test/fakes/held-clock.ts";
import { createPace } from "./pace.ts";

test("once a second is full they go one by one: the burst at its beginning is not made again each second", async () => {
  const clock = createHeldClock();
  const pace = createPace(clock, 40);
  const times: number[] = [];
  for (; clock.monotonicMs() < 5000; await clock.advance(1)) {
    for (; pace.available() >= 1; pace.take()) times.push(clock.monotonicMs());
  }
  const later = times.filter((at) => at > 1000);
  expect(times.length - later.length).toBe(40);
  expect(Math.min(...later.slice(1).map((at, n) => at - later[n]!))).toBeGreaterThanOrEqual(20);
});

test("what may go soon is what the rate and the second have room for within a twentieth of a second", async () => {
  const clock = createHeldClock();
  const pace = createPace(clock, 40);
  for (let sent = 0; sent < 10; sent++) pace.take();
  expect([pace.available(), pace.soon()]).toEqual([0, 2]);
  for (; clock.monotonicMs() < 959; await clock.advance(1)) if (pace.available() >= 1) pace.take();
  expect(pace.soon()).toBe(0);
  await clock.advance(1);
  expect(pace.soon()).toBeGreaterThan(0);
  expect(pace.available()).toBe(0);
});
