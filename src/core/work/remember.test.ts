import { expect, test } from "bun:test";
import { remember } from "./remember.ts";

test("what was set the longest ago is forgotten, and what is set again is the latest", () => {
  const entries = new Map<string | undefined, number>();
  remember(entries, [undefined, 1], 2);
  remember(entries, ["b", 2], 2);
  remember(entries, [undefined, 3], 2);
  remember(entries, ["c", 4], 2);
  expect([...entries]).toEqual([
    [undefined, 3],
    ["c", 4],
  ]);
  remember(entries, ["d", 5], 2);
  expect([...entries.keys()]).toEqual(["c", "d"]);
});
