import { heapStats } from "bun:jsc";
import { expect, test } from "bun:test";
import { Readable } from "node:stream";
import { readBeginning } from "./read-beginning.ts";

const OCTETS = Buffer.from(Array.from({ length: 100_000 }, (_, index) => index % 251));

test("of a mail its beginning is kept, and the rest read", async () => {
  let read = 0;
  function* pieces() {
    for (; read < OCTETS.length; read += 7_000) yield OCTETS.subarray(read, read + 7_000);
  }
  expect(await readBeginning(Readable.from(pieces()), 70_123)).toEqual(OCTETS.subarray(0, 70_123));
  expect(read).toBeGreaterThanOrEqual(OCTETS.length);
});

test("a mail that comes in pieces of one octet takes no more than its octets", async () => {
  let kept = 0;
  function* pieces() {
    const before = objects();
    for (let at = 0; at < 20_000; at++) yield OCTETS.subarray(at, at + 1);
    kept = objects() - before;
  }
  expect(await readBeginning(Readable.from(pieces()), 50_000)).toEqual(OCTETS.subarray(0, 20_000));
  expect(kept).toBeLessThan(5_000);
});

function objects(): number {
  Bun.gc(true);
  return heapStats().objectCount;
}
