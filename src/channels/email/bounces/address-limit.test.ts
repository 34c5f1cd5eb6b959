import { heapStats } from "bun:jsc";
import { expect, test } from "bun:test";
import { createAddressLimit } from "./address-limit.ts";

test("who has a /64 to themselves gets no more connections than who has one address", () => {
  const limit = createAddressLimit(2);
  const leave = limit.admit("2001:db8:1:2::1");
  expect(limit.admit("2001:db8:1:2:ffff::7")).toBeFunction();
  expect(limit.admit("2001:db8:1:2::2")).toBeUndefined();
  expect(limit.admit("2001:db8:1:3::1")).toBeFunction();
  leave?.();
  expect(limit.admit("2001:db8:1:2::2")).toBeFunction();
});

test("an IPv4 address is counted by itself, also where it comes in the form of IPv6", () => {
  const limit = createAddressLimit(1);
  expect(limit.admit("::ffff:192.0.2.1")).toBeFunction();
  expect(limit.admit("::ffff:192.0.2.2")).toBeFunction();
  expect(limit.admit("192.0.2.1")).toBeUndefined();
});

test("each connection that ends makes room for one, and the last leaves nothing behind", () => {
  const limit = createAddressLimit(3);
  const admit = () => limit.admit("192.0.2.1");
  for (let round = 0; round < 2; round++) {
    const taken = [admit(), admit(), admit()];
    expect(admit()).toBeUndefined();
    for (const leaving of [1, 2]) {
      for (const leave of taken.splice(0, leaving)) leave?.();
      while (taken.length < 3) taken.push(admit());
      expect(admit()).toBeUndefined();
    }
    for (const leave of taken) leave?.();
  }
  const before = objects();
  for (let n = 0; n < 20_000; n++) limit.admit(`10.1.${n >> 8}.${n & 255}`)?.();
  expect(objects() - before).toBeLessThan(5_000);
  expect(admit()).toBeFunction();
});

function objects(): number {
  Bun.gc(true);
  return heapStats().objectCount;
}
