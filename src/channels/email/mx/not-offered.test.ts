import { expect, test } from "bun:test";
import { CALLED_OFF } from "../smtp/hand-over.ts";
import { busy, type NotOffered, notOffered } from "./not-offered.ts";

const away = (message: string) => ({ code: "smtp.connect", message });
const RESTING = { code: "mx.resting", message: "it rests", retryAfterMs: 30_000 };
const BUSY = busy(() => 1_000);

test("of hosts that were asked the last one's fault is told, and it counts as an attempt", () => {
  const outcome = { kind: "deferred", error: { code: "4.4.1", message: "two" } } as const;
  const orders = [
    [away("one"), away("two")],
    [BUSY, away("two"), RESTING],
    [away("two"), CALLED_OFF],
  ];
  for (const faults of orders) expect(notOffered(faults)).toEqual({ outcome, countsAsAttempt: true });
});

test("what is told names the host, since a domain may have several", () => {
  const faults = [{ ...away("554 on a list"), host: "mx.example.test" }];
  expect(notOffered(faults).outcome).toMatchObject({ error: { message: "mx.example.test: 554 on a list" } });
  const resting = notOffered([{ ...RESTING, host: "mx.example.test" }]).outcome;
  expect(resting).toMatchObject({ error: { code: "mx.resting", message: "it rests" } });
});

test("a host that could not be spoken to securely is told apart", () => {
  const { outcome } = notOffered([{ code: "smtp.tls", message: "expired" }]);
  expect(outcome).toEqual({ kind: "deferred", error: { code: "4.7.5", message: "expired" } });
});

test("if no host was asked, the mail waits for the first as for a rate of our own, and it costs no attempt", () => {
  expect(notOffered([RESTING, BUSY])).toEqual({
    outcome: {
      kind: "deferred",
      error: { code: "mx.resting", message: "it rests" },
      retryAfterMs: 30_000,
      isOwnPace: true,
    },
    countsAsAttempt: false,
  });
});

test("only who waits for a place books a turn there", () => {
  let booked = 0;
  const place = () => busy(() => ++booked * 1_000);
  expect(notOffered([place(), away("two")]).countsAsAttempt).toBe(true);
  expect(notOffered([RESTING, place()]).outcome.retryAfterMs).toBe(30_000);
  expect(booked).toBe(0);
  const waits = { error: { code: "mx.busy" }, retryAfterMs: 1_000, isOwnPace: true };
  expect(notOffered([place(), place()])).toMatchObject({ outcome: waits, countsAsAttempt: false });
  expect(booked).toBe(1);
});

test("what was called off, or never came to a host, waits for no time of a host's", () => {
  const calledOff: NotOffered = { outcome: { kind: "deferred", error: CALLED_OFF }, countsAsAttempt: false };
  expect(notOffered([CALLED_OFF])).toEqual(calledOff);
  expect(notOffered([])).toEqual(calledOff);
});
