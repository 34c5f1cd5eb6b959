import { expect, test } from "bun:test";
import { createInFlightJobs } from "./in-flight-jobs.ts";

const LEASE_MS = 60_000;

function open() {
  const clock = { ms: 0, monotonicMs: () => clock.ms };
  return { clock, inFlight: createInFlightJobs(clock) };
}

test("work is in flight until it has ended, however it does, once for each time it was begun", async () => {
  const { inFlight } = open();
  const [first, other, again] = [1, 2, 1].map((id) => {
    const work = Promise.withResolvers<void>();
    inFlight.add(id, LEASE_MS, () => work.promise);
    return work;
  });
  first?.resolve();
  await Promise.resolve();
  expect([inFlight.ids().toSorted(), inFlight.count()]).toEqual([[1, 2], 2]);
  let isSettled = false;
  const settled = inFlight.whenEmpty().then(() => {
    isSettled = true;
  });
  again?.reject(new Error("failed"));
  await Promise.resolve();
  expect([inFlight.ids(), isSettled]).toEqual([[2], false]);
  other?.resolve();
  await settled;
  expect(inFlight.count()).toBe(0);
});

test("work is in flight as long as its lease lasts, and half a minute more, however often that is asked", () => {
  const { clock, inFlight } = open();
  inFlight.add(1, LEASE_MS, () => new Promise(() => {}));
  for (; clock.ms < LEASE_MS + 30_000; clock.ms += 10_000) expect(inFlight.ids()).toEqual([1]);
  expect(inFlight.ids()).toEqual([]);
});

test("what a process that stood still for an hour works on is still in flight, and has half a minute to end", () => {
  const { clock, inFlight } = open();
  inFlight.add(1, LEASE_MS, () => new Promise(() => {}));
  clock.ms = 3_600_000;
  expect(inFlight.ids()).toEqual([1]);
  clock.ms += 29_999;
  expect(inFlight.ids()).toEqual([1]);
  clock.ms += 1;
  expect(inFlight.ids()).toEqual([]);
});

test("what is kept since its outcome cannot be stored is in flight until that has ended, however long after its lease", async () => {
  const { clock, inFlight } = open();
  const work = Promise.withResolvers<void>();
  inFlight.add(1, LEASE_MS, (keep) => {
    keep();
    return work.promise;
  });
  inFlight.add(2, LEASE_MS, () => new Promise(() => {}));
  for (clock.ms = LEASE_MS; clock.ms < 3_600_000; clock.ms += 60_000) inFlight.ids();
  expect(inFlight.ids()).toEqual([1]);
  work.resolve();
  await Promise.resolve();
  expect(inFlight.ids()).toEqual([]);
});

test("of a job that is in flight twice only the work that is to be kept is kept", () => {
  const { clock, inFlight } = open();
  for (const isKept of [true, false])
    inFlight.add(1, LEASE_MS, (keep) => {
      if (isKept) keep();
      return new Promise(() => {});
    });
  for (clock.ms = LEASE_MS; clock.ms < 3_600_000; clock.ms += 60_000) inFlight.ids();
  expect(inFlight.ids()).toEqual([1]);
});
