import { expect, test } from "bun:test";
import { Worker } from "node:worker_threads";
import { createLockMemory, createWriteLock } from "./write-lock.ts";

test("a lock that is free is entered at once", () => {
  const lock = createWriteLock(createLockMemory());
  let runs = 0;
  lock.enter(() => runs++);
  lock.enter(() => runs++);
  expect(runs).toBe(2);
});

test("who finds it taken runs after the one inside has left, and the loop goes on turning meanwhile", async () => {
  const memory = createLockMemory();
  const [one, other] = [createWriteLock(memory), createWriteLock(memory)];
  const order: string[] = [];
  const entered = Promise.withResolvers<void>();
  one.enter(() => {
    other.enter(() => {
      order.push("other");
      entered.resolve();
    });
    order.push("one");
  });
  queueMicrotask(() => order.push("loop"));
  await entered.promise;
  expect(order).toEqual(["one", "loop", "other"]);
});

test("work that throws leaves the lock free", () => {
  const lock = createWriteLock(createLockMemory());
  expect(() =>
    lock.enter(() => {
      throw new Error("inside");
    }),
  ).toThrow("inside");
  let ran = false;
  lock.enter(() => {
    ran = true;
  });
  expect(ran).toBe(true);
});

test("two threads that count under the lock lose no count, and both come to an end", async () => {
  const memory = createLockMemory();
  const counter = new SharedArrayBuffer(8);
  const rounds = 1_000;
  const counting = [1, 2].map(() => countOnThread({ memory, counter, rounds }));
  await Promise.all(counting);
  expect(new Int32Array(counter)[0]).toBe(2 * rounds);
});

async function countOnThread(workerData: object): Promise<void> {
  const worker = new Worker(new URL("../../../../test/fakes/counting-thread.ts", import.meta.url), {
    workerData,
  });
  await new Promise<void>((resolve, reject) => {
    worker.once("message", () => resolve());
    worker.once("error", reject);
  });
}
