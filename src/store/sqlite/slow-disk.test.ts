import { expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, readdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isSlowDisk } from "./slow-disk.ts";

/** Judges a disk whose syncs take these milliseconds, one after the other. */
function judge(syncsMs: readonly number[], folder = mkdtempSync(join(tmpdir(), "postrider-disk-"))) {
  let nowMs = 0;
  let syncs = 0;
  const beforeSync = () => {
    nowMs += syncsMs[syncs++] ?? Number.NaN;
  };
  const isSlow = isSlowDisk({ folder, clock: { monotonicMs: () => nowMs }, beforeSync });
  return { isSlow, syncs, folder };
}

test("a disk is slow if every one of five writes takes it 8 ms, and nothing is left of them", () => {
  const { isSlow, folder } = judge([8, 12, 8, 30, 9]);
  expect(isSlow).toBe(true);
  expect(readdirSync(folder)).toEqual([]);
});

test("a disk that is quick once is only busy, and is asked no more", () => {
  expect(judge([900, 30, 7.9])).toMatchObject({ isSlow: false, syncs: 3 });
  expect(judge([0.4])).toMatchObject({ isSlow: false, syncs: 1 });
});

test("where nothing can be written, no disk is called slow", () => {
  expect(judge([], "/nowhere")).toMatchObject({ isSlow: false, syncs: 0 });
  const folder = mkdtempSync(join(tmpdir(), "postrider-disk-"));
  mkdirSync(join(folder, "postrider.probe"));
  expect(judge([], folder)).toMatchObject({ isSlow: false, syncs: 0 });
});
