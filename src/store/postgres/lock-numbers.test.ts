import { expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { LOCKS } from "./lock-numbers.ts";

test("no two uses have one lock, and none has a number of its own elsewhere", () => {
  expect(new Set(Object.values(LOCKS)).size).toBe(Object.keys(LOCKS).length);
  const elsewhere = readdirSync(import.meta.dir)
    .filter((name) => name.endsWith(".ts") && !name.startsWith("lock-numbers"))
    .filter((name) => /7_?031_?0/.test(readFileSync(join(import.meta.dir, name), "utf8")));
  expect(elsewhere).toEqual([]);
});
