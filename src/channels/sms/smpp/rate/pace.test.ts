import { expect, test } from "bun:test";
import { createHeldClock } from "../../../../../test/fakes/held-clock.ts";
import { createPace } from "./pace.ts";

function open(perSecond?: number) {
  const clock = createHeldClock();
  const pace = createPace(clock, perSecond);
  /** Sends what may go, looking often, and lets the SMSC take as much as it can; returns how many were sent. */
  const run = async (seconds: number, { takes = Number.POSITIVE_INFINITY, wants = 10_000 } = {}) => {
    let sent = 0;
    for (let step = 0; step < seconds * 50; step++) {
      let taken = 0;
      for (let i = 0; i < wants / 50 && pace.available() >= 1; i++) {
        pace.take();
        sent++;
        if (++taken <= takes / 50) pace.accepted();
        else pace.slowDown({ sentAtMs: clock.monotonicMs(), pauseMs: 1000 });
      }
      await clock.advance(20);
    }
    return sent;
  };
  return { clock, pace, run };
}

test("without a rate nothing holds a segment back", () => {
  const { pace } = open();
  for (let i = 0; i < 1000; i++) pace.take();
  expect(pace.available()).toBe(Number.POSITIVE_INFINITY);
  expect(pace.waitMs()).toBe(0);
  expect(pace.rate()).toBeUndefined();
});

test.each([0.5, 1, 7, 100, 2000])("no more than %p a second go out, and no less", async (perSecond) => {
  const { run } = open(perSecond);
  const sent = await run(10);
  expect(sent).toBeGreaterThanOrEqual(Math.floor(perSecond * 9.5));
  expect(sent).toBeLessThanOrEqual(Math.ceil(perSecond * 10.25) + 1);
});

test.each([1, 4, 4.5, 8, 10, 50, 2000])(
  "at %p a second, no second has more, wherever it begins and after any silence, and none of the rate is lost",
  async (perSecond) => {
    const { pace, clock } = open(perSecond);
    const times: number[] = [];
    const send = async (ms: number) => {
      for (const end = clock.monotonicMs() + ms; clock.monotonicMs() < end; await clock.advance(13)) {
        for (; pace.available() >= 1; pace.take()) times.push(clock.monotonicMs());
      }
    };
    for (const silenceMs of [0, 137, 900, 60_000]) {
      await clock.advance(silenceMs);
      const before = times.length;
      await send(10_000);
      expect(times.length - before).toBeGreaterThanOrEqual(Math.floor(perSecond * 9.5));
    }
    const most = Math.ceil(perSecond);
    const spans = times.slice(most).map((at, n) => at - times[n]!);
    expect(Math.min(...spans)).toBeGreaterThanOrEqual(1000);
  },
);

test("a second that is full says when the next may go", async () => {
  const { pace, clock } = open(10);
  let sent = 0;
  for (; sent < 10; await clock.advance(1)) {
    for (; pace.available() >= 1; sent++) pace.take();
  }
  expect(pace.available()).toBe(0);
  const waitMs = pace.waitMs();
  expect(waitMs).toBeGreaterThan(100);
  expect(pace.soon()).toBe(0);
  await clock.advance(waitMs);
  expect(pace.available()).toBe(1);
  pace.take();
  expect(pace.waitMs()).toBe(100);
});

test("of a rate that has changed, what went before still counts", async () => {
  const { pace, clock } = open(100);
  await clock.advance(1000);
  for (let sent = 0; sent < 25; sent++) pace.take();
  pace.setPart(0.2);
  await clock.advance(900);
  expect(pace.available()).toBe(0);
  await clock.advance(110);
  expect(pace.available()).toBe(1);
});

test("a silence saves up no more than a quarter of a second", async () => {
  const { pace, clock } = open(100);
  await clock.advance(60_000);
  expect(pace.available()).toBe(25);
  await clock.advance(60_000);
  for (let i = 0; i < 25; i++) pace.take();
  expect(pace.available()).toBe(0);
});

test.each([0.5, 7, 100])(
  "at %p a second, who waits as long as it is told may go then, and not before",
  async (perSecond) => {
    const { pace, clock } = open(perSecond);
    for (let round = 1; round <= 10; round++) {
      while (pace.available() >= 1) pace.take();
      await clock.advance(round / 2);
      const waitMs = pace.waitMs();
      await clock.advance(waitMs - 1);
      expect(pace.available()).toBe(0);
      await clock.advance(1);
      // Parts of a segment are not exact.
      const moreMs = pace.waitMs();
      expect(moreMs).toBeLessThanOrEqual(1);
      await clock.advance(moreMs);
      expect(pace.available()).toBe(1);
    }
  },
);

test("too fast: it rests, then goes half as fast, and reaches its rate again by itself", async () => {
  const { pace, clock } = open(100);
  pace.slowDown({ sentAtMs: clock.monotonicMs(), pauseMs: 1000 });
  expect(pace.available()).toBe(0);
  expect(pace.soon()).toBe(0);
  expect(pace.waitMs()).toBe(1000);
  expect(pace.rate()).toEqual({ perSecond: 50, isReduced: true });
  await clock.advance(1000);
  expect(pace.available()).toBe(1);
  await clock.advance(5000);
  expect(pace.rate()!.perSecond).toBeCloseTo(75);
  await clock.advance(5000);
  expect(pace.rate()).toEqual({ perSecond: 100, isReduced: false });
});

test("many refusals of what was sent at one rate slow down once", async () => {
  const { pace, clock } = open(100);
  const sentAtMs = clock.monotonicMs();
  await clock.advance(10);
  for (let i = 0; i < 10; i++) pace.slowDown({ sentAtMs, pauseMs: 1000 });
  expect(pace.rate()!.perSecond).toBe(50);
  await clock.advance(1500);
  pace.slowDown({ sentAtMs: clock.monotonicMs(), pauseMs: 1000 });
  expect(pace.rate()!.perSecond).toBeLessThan(30);
});

test("a rate of less than one a second is not raised by a refusal", () => {
  const { pace, clock } = open(0.25);
  pace.slowDown({ sentAtMs: clock.monotonicMs(), pauseMs: 0 });
  expect(pace.rate()?.perSecond).toBe(0.25);
});

test("a full queue slows down without a rest", () => {
  const { pace, clock } = open(100);
  pace.slowDown({ sentAtMs: clock.monotonicMs(), pauseMs: 0 });
  expect(pace.available()).toBe(12);
  expect(pace.rate()).toEqual({ perSecond: 50, isReduced: true });
});

test("without a rate of its own it starts from what the SMSC last took, and lets go when that is long past", async () => {
  const { pace, clock, run } = open();
  await run(2, { wants: 200 });
  pace.slowDown({ sentAtMs: clock.monotonicMs(), pauseMs: 1000 });
  expect(pace.rate()).toEqual({ perSecond: 100, isReduced: true });
  await clock.advance(21_000);
  expect(pace.rate()).toEqual({ perSecond: expect.closeTo(400), isReduced: true });
  await clock.advance(11_000);
  expect(pace.rate()).toBeUndefined();
  expect(pace.available()).toBe(Number.POSITIVE_INFINITY);
});

test("without a configured rate, sending can be slowed down again after it was let go", async () => {
  const { pace, clock, run } = open();
  for (let round = 0; round < 2; round++) {
    await run(2, { wants: 200 });
    pace.slowDown({ sentAtMs: clock.monotonicMs(), pauseMs: 0 });
    expect(pace.available()).toBe(25);
    await clock.advance(72_000);
    expect(pace.available()).toBe(Number.POSITIVE_INFINITY);
  }
});

test.each([
  ["a hundred a second, in any order", { perSecond: 100, burst: 100, busyMs: 0 }],
  ["a hundred a second, five at a time", { perSecond: 100, burst: 5, busyMs: 0 }],
  ["five hundred a second, and nothing in the first milliseconds", { perSecond: 500, burst: 20, busyMs: 40 }],
  ["five a second", { perSecond: 5, burst: 5, busyMs: 0 }],
])("without a rate, an SMSC that takes %s gets most of that in its first minute", async (_, smsc) => {
  const { pace, clock } = open();
  const counts = { taken: 0, refused: 0 };
  let room = smsc.burst;
  const startedMs = clock.monotonicMs();
  const second = async () => {
    for (let step = 0; step < 50; step++) {
      room = Math.min(smsc.burst, room + smsc.perSecond / 50);
      for (let i = 0; i < 20 && pace.available() >= 1; i++) {
        pace.take();
        if (clock.monotonicMs() - startedMs >= smsc.busyMs && room >= 1) {
          room--;
          counts.taken++;
          pace.accepted();
        } else {
          counts.refused++;
          pace.slowDown({ sentAtMs: clock.monotonicMs(), pauseMs: 1000 });
        }
      }
      await clock.advance(20);
    }
  };
  for (let i = 0; i < 10; i++) await second();
  const inTen = counts.taken;
  for (let i = 0; i < 50; i++) await second();
  expect(inTen).toBeGreaterThan(smsc.perSecond * 10 * 0.1);
  expect(counts.taken).toBeGreaterThan(smsc.perSecond * 60 * 0.5);
  expect(counts.refused).toBeLessThan(15);
});

test("sending never comes to a stop: a second after the tenth refusal a segment may go", async () => {
  const { pace, clock } = open();
  for (let i = 0; i < 10; i++) {
    pace.slowDown({ sentAtMs: clock.monotonicMs(), pauseMs: 1000 });
    await clock.advance(1000);
    expect(pace.available()).toBe(1);
    pace.take();
  }
});

test("a part of the rate is kept to from when it is given, also while the SMSC asks for less", async () => {
  const { pace, clock, run } = open(100);
  pace.setPart(0.5);
  expect(pace.available()).toBe(1);
  const sent = await run(10);
  expect(sent).toBeGreaterThanOrEqual(475);
  expect(sent).toBeLessThanOrEqual(514);
  pace.slowDown({ sentAtMs: clock.monotonicMs(), pauseMs: 0 });
  expect(pace.rate()).toEqual({ perSecond: 25, isReduced: true });
  pace.setPart(1);
  expect(pace.rate()).toEqual({ perSecond: 25, isReduced: true });
  await clock.advance(8_000);
  expect(pace.rate()).toEqual({ perSecond: expect.closeTo(45), isReduced: true });
  pace.setPart(0.2);
  expect(pace.rate()).toEqual({ perSecond: 20, isReduced: true });
  await clock.advance(20);
  expect(pace.rate()).toEqual({ perSecond: 20, isReduced: false });
});

test("a part that has grown is used from then on, and one that stays the same takes nothing away", async () => {
  const { pace, clock } = open(100);
  pace.setPart(0.5);
  await clock.advance(60_000);
  pace.setPart(0.5);
  expect(pace.available()).toBe(12);
  await clock.advance(60_000);
  pace.setPart(1);
  expect(pace.available()).toBe(1);
  expect(pace.rate()).toEqual({ perSecond: 100, isReduced: false });
});

test("against an SMSC that takes less than is configured, most of what is sent is taken", async () => {
  const { pace, run } = open(1000);
  await run(10, { takes: 100 });
  const sent = await run(60, { takes: 100 });
  expect(pace.rate()!.perSecond).toBeLessThan(250);
  expect(sent).toBeGreaterThan(60 * 40);
  expect(sent).toBeLessThan(60 * 110);
});

test("without a rate, against an SMSC that takes a hundred each second, few are refused and many are taken", async () => {
  const { pace, clock } = open();
  const minute = { taken: 0, refused: 0 };
  for (let second = 0; second < 60; second++) {
    let room = 100;
    for (let step = 0; step < 50; step++) {
      for (let i = 0; i < 10 && pace.available() >= 1; i++) {
        pace.take();
        if (room-- > 0) {
          minute.taken++;
          pace.accepted();
        } else {
          minute.refused++;
          pace.slowDown({ sentAtMs: clock.monotonicMs(), pauseMs: 1000 });
        }
      }
      await clock.advance(20);
    }
  }
  expect(minute.taken).toBeGreaterThan(60 * 50);
  expect(minute.refused).toBeLessThan(10);
});
