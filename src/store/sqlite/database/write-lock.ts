/**
 * Decides which of several threads, each with its own connection, writes. SQLite's own lock would be polled with the
 * thread asleep; for this one a thread waits while its event loop goes on.
 */
export interface WriteLock {
  /** Runs `work` while no other thread holds the lock: at once if it is free, else later. */
  enter(work: () => void): void;
}

/** The memory of a lock, to be handed to each thread. */
export function createLockMemory(): SharedArrayBuffer {
  return new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT);
}

const FREE = 0;
const TAKEN = 1;
/** Taken, and a thread waits: whoever leaves has to wake one. */
const AWAITED = 2;

/** How often a waiting thread tries again without having been woken, milliseconds. */
const RETRY_MS = 1000;

/**
 * A lock in shared memory. Waiting for it does not block the event loop, so calls that arrive meanwhile join the next
 * commit, and does not keep a thread alive that has nothing else to do. A thread that ended while holding the lock
 * would leave it taken; such an end takes the whole process down.
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
    const woken = Atomics.waitAsync(cell, 0, AWAITED, RETRY_MS);
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
