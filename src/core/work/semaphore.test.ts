import { expect, test } from "bun:test";
import { createHeldClock } from "../../../test/fakes/held-clock.ts";
import { createSemaphore } from "./semaphore.ts";

test("a caller waits in line until another releases its permit", async () => {
  const clock = createHeldClock();
  const semaphore = createSemaphore(clock, { count: 2, waitMs: 1_000 });
  const first = await semaphore.acquire();
  await semaphore.acquire();
  const came: number[] = [];
  const waiting = [3, 4].map(async (n) => {
    const release = await semaphore.acquire();
    came.push(n);
    return release;
  });
  first?.();
  (await waiting[0])?.();
  await waiting[1];
  expect(came).toEqual([3, 4]);
  expect(clock.pending()).toBe(0);
});

test("no wait is longer than its limit, and a caller that has given up takes no permit", async () => {
  const clock = createHeldClock();
  const semaphore = createSemaphore(clock, { count: 1, waitMs: 1_000 });
  const release = await semaphore.acquire();
  const late = semaphore.acquire();
  await clock.advance(1_000);
  expect(await late).toBeUndefined();
  release?.();
  const next = await semaphore.acquire();
  expect(next).toBeDefined();
  next?.();
  expect(await semaphore.acquire()).toBeDefined();
});

test("a permit that nobody waited for is one of as many as before", async () => {
  const clock = createHeldClock();
  const semaphore = createSemaphore(clock, { count: 2, waitMs: 1_000 });
  (await semaphore.acquire())?.();
  const acquired = Promise.all([1, 2, 3].map(() => semaphore.acquire()));
  await clock.advance(1_000);
  expect((await acquired).map((release) => release !== undefined)).toEqual([true, true, false]);
});

test("clients take turns, however many callers of one wait, and a client's callers keep their order", async () => {
  const semaphore = createSemaphore(createHeldClock(), { count: 1, waitMs: 1_000 });
  const release = await semaphore.acquire("a");
  const came: string[] = [];
  const waiting = ["a1", "a2", "a3", "b1", "b2", "c1"].map(async (caller) => {
    const done = await semaphore.acquire(caller.charAt(0));
    came.push(caller);
    done?.();
  });
  release?.();
  await Promise.all(waiting);
  expect(came).toEqual(["a1", "b1", "c1", "a2", "b2", "a3"]);
});
