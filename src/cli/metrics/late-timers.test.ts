import { expect, test } from "bun:test";
import { createHeldClock } from "../../../test/fakes/held-clock.ts";
import { keepTimer, reportLateTimers } from "./late-timers.ts";

test("a timer that fires on time is 0 ms late", async () => {
  const { clock, held, late } = start();
  clock.after(40, () => {});
  await held.advance(100);
  expect(late).toEqual([0]);
});

test("a timer that fires while the loop is busy is as late as the loop was", async () => {
  const { clock, held, late } = start();
  clock.after(40, () => {});
  clock.after(-5, () => {});
  await held.advance(1_000, { grainMs: 250 });
  expect(late.sort((a, b) => a - b)).toEqual([0, 210]);
});

test("a timer that is called off says nothing", async () => {
  const { clock, held, late } = start();
  clock.after(40, () => {})();
  await held.advance(100);
  expect(late).toEqual([]);
});

test("the timer that is kept going fires twice a second, until it is stopped", async () => {
  const { clock, held, late } = start();
  const kept = keepTimer(clock);
  await held.advance(2_000);
  await kept.stop();
  await held.advance(2_000);
  expect(late).toEqual([0, 0, 0, 0]);
});

function start() {
  const held = createHeldClock();
  const late: number[] = [];
  return { held, late, clock: reportLateTimers(held, (ms) => late.push(ms)) };
}
