import { expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { LOCKS } from "./lock-numbers.ts";

test("no two uses of advisory locks share a number, and no number is written anywhere else", () => {
  expect(new Set(Object.values(LOCKS)).size).toBe(Object.keys(LOCKS).length);
  const engine = join(import.meta.dir, "..");
  const files = readdirSync(engine, { recursive: true, encoding: "utf8" }).filter(
    (path) => path.endsWith(".ts") && !basename(path).startsWith("lock-numbers"),
  );
  expect(files).toContain(join("queue", "claim.ts"));
  const elsewhere = files.filter((path) => /7_?031_?0/.test(readFileSync(join(engine, path), "utf8")));
  expect(elsewhere).toEqual([]);
});
