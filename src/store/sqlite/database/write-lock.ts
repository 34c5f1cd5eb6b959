/** Who writes, of several threads with a connection each. SQLite's own lock is asked for in vain, and slept on; this one is waited for. */
export interface WriteLock {
  /** Runs `work` once no other thread is in it: at once where it can, later where it must wait. */
  enter(work: () => void): void;
}

/** The memory of a lock that threads share. */
export function createLockMemory(): SharedArrayBuffer {
  return new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT);
}

const FREE = 0;
const TAKEN = 1;
/** Taken, and somebody waits: who leaves has to wake one. */
const AWAITED = 2;

/** How often somebody who waits looks again without having been woken, milliseconds. */
const LOOK_MS = 1000;

/**
 * A lock in shared memory whose waiting keeps no event loop from turning: what arrives meanwhile joins the next
 * commit. Waiting keeps no thread alive that has nothing else to do. A thread that ends while it holds the lock
 * would leave it taken; it takes the process with it.
 */
export function createWriteLock(memory: SharedArrayBuffer): WriteLock {
  const cell = new Int32Array(memory);

  const run = (work: () => void) => {
    try {
      work();
    } finally {
      if (Atomics.exchange(cell, 0, FREE) === AWAITED) Atomics.notify(cell, 0, 1);
    }
  };
  const wait = (work: () => void) => {
    if (Atomics.exchange(cell, 0, AWAITED) === FREE) return run(work);
    const woken = Atomics.waitAsync(cell, 0, AWAITED, LOOK_MS);
    if (woken.async) void woken.value.then(() => wait(work));
    else queueMicrotask(() => wait(work));
  };
  return {
    enter(work) {
      if (Atomics.compareExchange(cell, 0, FREE, TAKEN) === FREE) run(work);
      else wait(work);
    },
  };
}
