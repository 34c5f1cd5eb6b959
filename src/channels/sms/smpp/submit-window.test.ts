import { expect, test } from "bun:test";
import { createHeldClock } from "../../../../test/fakes/held-clock.ts";
import { createSubmitWindow } from "./submit-window.ts";

const signal = new AbortController().signal;
const limit = { waitMs: 1000, signal };

function open(size: number) {
  const clock = createHeldClock();
  let freed = 0;
  const window = createSubmitWindow(size, clock, () => freed++);
  return { clock, window, freed: () => freed };
}

test("slots go out up to the size, then to those in line, first come first served", async () => {
  const { window, clock } = open(2);
  expect(await window.take(limit)).toBe(true);
  expect(await window.take(limit)).toBe(true);
  const served: string[] = [];
  const first = window.take(limit).then(() => served.push("first"));
  const second = window.take(limit).then(() => served.push("second"));
  window.giveBack();
  await first;
  expect(served).toEqual(["first"]);
  window.giveBack();
  await second;
  expect(served).toEqual(["first", "second"]);
  expect(clock.pending()).toBe(0);
});

test("who waits too long, or no longer wants to, is refused, and no slot is lost by it", async () => {
  const { window, clock } = open(1);
  await window.take(limit);
  const tooLong = window.take(limit);
  await clock.advance(1000);
  expect(await tooLong).toBe(false);
  const controller = new AbortController();
  const aborted = window.take({ waitMs: 1000, signal: controller.signal });
  controller.abort();
  expect(await aborted).toBe(false);
  window.giveBack();
  expect(window.free()).toBe(1);
  expect(clock.pending()).toBe(0);
});

test("the line is no longer than the window", async () => {
  const { window } = open(1);
  await window.take(limit);
  const inLine = window.take(limit);
  expect(await window.take(limit)).toBe(false);
  window.giveBack();
  expect(await inLine).toBe(true);
});

test("a resting window hands out nothing, also of what is given back, until the rest is over", async () => {
  const { window, clock, freed } = open(1);
  await window.take(limit);
  const inLine = window.take({ waitMs: 10_000, signal });
  window.rest(1000);
  window.giveBack();
  expect(window.free()).toBe(0);
  await clock.advance(500);
  window.rest(1000);
  await clock.advance(999);
  expect(freed()).toBe(0);
  await clock.advance(1);
  expect(await inLine).toBe(true);
});

test("a closed window refuses those in line, and is drained when the last slot is back", async () => {
  const { window, clock } = open(1);
  await window.take(limit);
  const inLine = window.take(limit);
  window.close();
  expect(await inLine).toBe(false);
  expect(await window.take(limit)).toBe(false);
  let isDrained = false;
  const drained = window.drained().then(() => {
    isDrained = true;
  });
  await clock.advance(0);
  expect(isDrained).toBe(false);
  window.giveBack();
  await drained;
  expect(window.free()).toBe(0);
});
