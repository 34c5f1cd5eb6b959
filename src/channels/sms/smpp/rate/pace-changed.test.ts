/** A configured rate that is changed under way. */
import { expect, test } from "bun:test";
import { createHeldClock } from "../../../../../test/fakes/held-clock.ts";
import { createPace } from "./pace.ts";

function open(perSecond?: number) {
  const clock = createHeldClock();
  const pace = createPace(clock, perSecond);
  /** Sends whatever may go; returns how many were sent. */
  const run = async (seconds: number) => {
    let sent = 0;
    for (let step = 0; step < seconds * 50; step++) {
      for (; pace.available() >= 1 && sent < 10_000; sent++) pace.take();
      await clock.advance(20);
    }
    return sent;
  };
  return { clock, pace, run };
}

test("a raised rate holds from now on, and no second has more than it", async () => {
  const { pace, run } = open(10);
  await run(1);
  pace.setRate(40);
  const sent = await run(1);
  expect(sent).toBeGreaterThan(28);
  expect(sent).toBeLessThanOrEqual(40);
});

test("a lowered rate counts what was sent just before", async () => {
  const { pace, run } = open(40);
  await run(0.5);
  pace.setRate(10);
  expect(await run(0.5)).toBe(0);
  expect(await run(2)).toBeLessThanOrEqual(20);
});

test("a rate can be given, and taken away", async () => {
  const { pace, run } = open();
  pace.setRate(10);
  expect(await run(2)).toBeLessThanOrEqual(20);
  pace.setRate(undefined);
  expect([pace.available(), pace.waitMs(), pace.rate()]).toEqual([Number.POSITIVE_INFINITY, 0, undefined]);
});

test("a process's part is one of the changed rate", () => {
  const { pace } = open(10);
  pace.setPart(0.5);
  pace.setRate(100);
  expect(pace.rate()).toEqual({ perSecond: 50, isReduced: false });
  pace.setPart(0.25);
  expect(pace.rate()).toEqual({ perSecond: 25, isReduced: false });
});

test("what the SMSC has refused as too fast stays so, and ends also where no rate is configured any more", async () => {
  const { clock, pace } = open(100);
  pace.slowDown({ sentAtMs: clock.monotonicMs(), pauseMs: 0 });
  pace.setRate(200);
  expect(pace.rate()).toEqual({ perSecond: 50, isReduced: true });
  pace.setRate(undefined);
  expect(pace.rate()).toEqual({ perSecond: 50, isReduced: true });
  await clock.advance(60_000);
  expect(pace.rate()).toBeUndefined();
});

test("where an SMSC has refused again and again, taking the configured rate away does not end the limit within a minute", async () => {
  const { clock, pace } = open(1_000);
  for (let refusals = 0; refusals < 12; refusals++) {
    await clock.advance(1);
    pace.slowDown({ sentAtMs: clock.monotonicMs(), pauseMs: 0 });
  }
  pace.setRate(undefined);
  await clock.advance(60_000);
  expect(pace.rate()).toMatchObject({ isReduced: true });
  await clock.advance(120_000);
  expect(pace.rate()).toBeUndefined();
});

test("a rate that was too fast while one was configured stays so after that is taken away, though lower ones were refused before", async () => {
  const { clock, pace } = open();
  for (let second = 0; second < 2; second++) {
    for (let taken = 0; taken < 5; taken++) pace.accepted();
    await clock.advance(1_000);
  }
  pace.slowDown({ sentAtMs: clock.monotonicMs(), pauseMs: 0 });
  expect(pace.rate()).toEqual({ perSecond: 2.5, isReduced: true });
  pace.setRate(100);
  await clock.advance(50_000);
  const tooFast = pace.rate()?.perSecond ?? 0;
  expect(tooFast).toBeGreaterThan(40);
  pace.slowDown({ sentAtMs: clock.monotonicMs(), pauseMs: 0 });
  pace.setRate(undefined);
  await clock.advance(20);
  expect(pace.rate()?.perSecond).toBeWithin(tooFast / 2, tooFast);
  await clock.advance(60_000);
  expect(pace.rate()).toBeUndefined();
});
