/** How a rate grows again that refusals have brought down far below what the SMSC takes. */
import { expect, test } from "bun:test";
import { createHeldClock } from "../../../../../test/fakes/held-clock.ts";
import { createPace } from "./pace.ts";

async function openRefused({ perSecond, times }: { perSecond: number; times: number }) {
  const clock = createHeldClock();
  const pace = createPace(clock, perSecond);
  for (let refusals = 0; refusals < times; refusals++) {
    pace.slowDown({ sentAtMs: clock.monotonicMs(), pauseMs: 1000 });
    await clock.advance(1001);
  }
  return { clock, pace, perSecond: () => pace.rate()!.perSecond };
}

test("after an SMSC has refused everything for a while, the rate is back within two minutes", async () => {
  const { clock, pace, perSecond } = await openRefused({ perSecond: 500, times: 20 });
  expect(perSecond()).toBeLessThan(2);
  await clock.advance(60_000);
  expect(perSecond()).toBeGreaterThan(50);
  await clock.advance(60_000);
  expect(pace.rate()).toEqual({ perSecond: 500, isReduced: false });
});

test("ten seconds lead to the rate that was too fast, and ten more to twice that", async () => {
  const { clock, perSecond } = await openRefused({ perSecond: 512, times: 3 });
  const halved = perSecond();
  expect(halved).toBeLessThan(70);
  await clock.advance(10_000);
  expect(perSecond()).toBeCloseTo(2 * halved, 0);
  await clock.advance(10_000);
  expect(perSecond()).toBeCloseTo(4 * halved, 0);
});

test("a reduced rate grows by the same however often somebody looks", async () => {
  const [often, once] = await Promise.all([
    openRefused({ perSecond: 500, times: 5 }),
    openRefused({ perSecond: 500, times: 5 }),
  ]);
  for (let step = 0; step < 200; step++) {
    await often.clock.advance(100);
    often.perSecond();
  }
  await once.clock.advance(20_000);
  expect(often.perSecond()).toBeCloseTo(once.perSecond(), 6);
});
