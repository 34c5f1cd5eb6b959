import { expect, test } from "bun:test";
import { createRateWindow } from "./rate-window.ts";

/** So long after it went, one no longer counts. */
const SECOND = 1_010;

/** Of a window of this size, after so many have gone at 0 and the others at 500. */
function openFull(size: number, early: number) {
  const window = createRateWindow(size);
  for (let n = 0; n < size; n++) window.took(n < early ? 0 : 500);
  return window;
}

test("as many may go as went a second ago", () => {
  for (let size = 1; size <= 20; size++)
    for (let early = 0; early <= size; early++)
      expect([size, early, openFull(size, early).room(SECOND)]).toEqual([size, early, early]);
});

test("a window says for how long there is no room, to the millisecond", () => {
  const window = openFull(3, 1);
  expect([window.waitMs(0.5), window.waitMs(SECOND), window.waitMs(SECOND + 1)]).toEqual([SECOND, 0, 0]);
  expect([window.room(SECOND - 0.5), window.room(SECOND)]).toEqual([0, 1]);
  window.took(SECOND);
  expect(window.waitMs(SECOND)).toBe(500);
});

test("what went before counts at another rate too: all of it at a higher one, the latest at a lower one", () => {
  const window = openFull(4, 2);
  expect([window.withRate(6).room(600), window.withRate(6).room(SECOND)]).toEqual([2, 4]);
  expect([window.withRate(2).room(SECOND), window.withRate(2).waitMs(SECOND)]).toEqual([0, 500]);
  // Of one that has gone round, so that the oldest is not the first.
  window.took(700);
  window.took(800);
  expect([window.withRate(2).room(SECOND + 500), window.withRate(2).waitMs(SECOND + 500)]).toEqual([0, 200]);
  expect(window.withRate(Number.POSITIVE_INFINITY).room(600)).toBe(Number.POSITIVE_INFINITY);
});

test("at a rate that is not whole, as many as it is rounded up go in the time that they take", () => {
  const window = createRateWindow(2.5);
  for (let n = 0; n < 3; n++) window.took(0);
  expect([window.waitMs(0), window.room(1_209), window.room(1_210)]).toEqual([1_210, 0, 3]);
});
