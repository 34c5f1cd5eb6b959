import { heapStats } from "bun:jsc";
import { expect, test } from "bun:test";
import { createSeats } from "./seats.ts";

test("who has a /64 to themselves gets no more connections than who has one address", () => {
  const seats = createSeats(2);
  const rise = seats.take("2001:db8:1:2::1");
  expect(seats.take("2001:db8:1:2:ffff::7")).toBeFunction();
  expect(seats.take("2001:db8:1:2::2")).toBeUndefined();
  expect(seats.take("2001:db8:1:3::1")).toBeFunction();
  rise?.();
  expect(seats.take("2001:db8:1:2::2")).toBeFunction();
});

test("an IPv4 address is counted by itself, also where it comes in the form of IPv6", () => {
  const seats = createSeats(1);
  expect(seats.take("::ffff:192.0.2.1")).toBeFunction();
  expect(seats.take("::ffff:192.0.2.2")).toBeFunction();
  expect(seats.take("192.0.2.1")).toBeUndefined();
});

test("each connection that ends makes room for one, and the last leaves nothing behind", () => {
  const seats = createSeats(3);
  const take = () => seats.take("192.0.2.1");
  for (let round = 0; round < 2; round++) {
    const taken = [take(), take(), take()];
    expect(take()).toBeUndefined();
    for (const leaving of [1, 2]) {
      for (const leave of taken.splice(0, leaving)) leave?.();
      while (taken.length < 3) taken.push(take());
      expect(take()).toBeUndefined();
    }
    for (const leave of taken) leave?.();
  }
  const before = objects();
  for (let n = 0; n < 20_000; n++) seats.take(`10.1.${n >> 8}.${n & 255}`)?.();
  expect(objects() - before).toBeLessThan(5_000);
  expect(take()).toBeFunction();
});

function objects(): number {
  Bun.gc(true);
  return heapStats().objectCount;
}
