import { expect, test } from "bun:test";
import { parseTestCounts } from "./test-counts.ts";

const SUMMARY = `
 12 pass
 1 skip
 2 todo
 3 fail
 1 error
 40 expect() calls
Ran 18 tests across 4 files. [32.00ms]
`;

test("the summary of a run gives the counts, skipped and todo together", () => {
  expect(parseTestCounts(SUMMARY)).toEqual({ passed: 12, failed: 3, skipped: 3 });
});

test("what tests print before the summary is not mistaken for it", () => {
  expect(parseTestCounts(` 999 pass\n 0 fail\n${SUMMARY}`)).toEqual({ passed: 12, failed: 3, skipped: 3 });
});

test("a run that broke off has no counts", () => {
  expect(parseTestCounts("(pass) one\n(pass) two\n 2 pass\n")).toBeUndefined();
  expect(parseTestCounts("")).toBeUndefined();
});
