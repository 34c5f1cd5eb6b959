import { expect, test } from "bun:test";
import { agoText, durationText, isoOfLocal, localOfIso, timeText } from "./times.ts";

const now = new Date(2026, 10, 28, 10, 30, 0);
const at = (...parts: [number, number, number, number?, number?, number?]) =>
  new Date(...parts).toISOString();

test("a time of today has no date, one of this year no year", () => {
  expect(timeText(at(2026, 10, 28, 9, 5, 7), now)).toBe("09:05:07");
  expect(timeText(at(2026, 10, 27, 23, 59, 59), now)).toBe("27 Nov 23:59:59");
  expect(timeText(at(2025, 0, 3), now)).toBe("3 Jan 2025 00:00:00");
});

test("what is no time is shown as it is", () => {
  expect(timeText("soon", now)).toBe("soon");
});

test("a duration has two units at most", () => {
  const texts = [0, 999, 1_000, 9_949, 9_960, 59_600, 65_000, 3_600_000, 90_061_000].map(durationText);
  expect(texts).toEqual(["0 ms", "999 ms", "1.0 s", "9.9 s", "10 s", "1 min", "1 min 5 s", "1 h", "1 d 1 h"]);
});

test("how long ago is told in one unit, and so is the time until then", () => {
  const ms = (offset: number) => agoText(new Date(now.getTime() + offset).toISOString(), now);
  expect([-200, -5_400, -65_000, -7_300_000, 5_200].map(ms)).toEqual([
    "now",
    "5 s ago",
    "1 min ago",
    "2 h ago",
    "in 5 s",
  ]);
});

test("a local time that was typed is the time it means, and is shown again", () => {
  const iso = at(2026, 10, 28, 9, 5, 7);
  expect(localOfIso(iso)).toBe("2026-11-28T09:05:07");
  expect(isoOfLocal("2026-11-28T09:05:07")).toBe(iso);
  expect([localOfIso(""), isoOfLocal("")]).toEqual(["", ""]);
});
