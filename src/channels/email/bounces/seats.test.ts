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
