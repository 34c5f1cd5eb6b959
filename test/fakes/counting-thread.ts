/** A thread that adds to a shared counter in two steps, which only the write lock makes atomic. */
import { parentPort, workerData } from "node:worker_threads";
import { createWriteLock } from "../../src/store/sqlite/database/write-lock.ts";

const lock = createWriteLock(workerData.memory);
const cell = new Int32Array(workerData.counter);
let left: number = workerData.rounds;

const next = () =>
  lock.enter(() => {
    const before = cell[0] ?? 0;
    for (let spin = 0; spin < 50; spin++) Atomics.load(cell, 1);
    cell[0] = before + 1;
    left--;
    if (left > 0) return void setImmediate(next);
    parentPort?.postMessage("done");
    parentPort?.close();
  });
// Waiting for the lock keeps no thread alive; a port that is listened to does.
parentPort?.on("message", () => {});
next();
