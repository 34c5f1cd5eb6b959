/**
 * Decides which of several threads, each with a connection of its own, may write. A thread would poll SQLite's own lock asleep;
 * while it waits for this one, its event loop goes on.
 */
export interface WriteLock {
  /** Runs `work` while no other thread holds the lock: at once if it is free, else later. */
  enter(work: () => void): void;
  /** A number that changes when any of the threads has written, before that thread tells anybody. */
  writes(): number;
}

/** The memory of a lock, to be handed to each thread. */
export function createLockMemory(): SharedArrayBuffer {
  return new SharedArrayBuffer(2 * Int32Array.BYTES_PER_ELEMENT);
}

/** Cells of the memory: the lock, and how often it was released. */
const LOCK = 0;
const WRITES = 1;

const FREE = 0;
const TAKEN = 1;
/** The lock is taken, and a thread waits: on release one has to be woken. */
const AWAITED = 2;

/** After how many milliseconds a waiting thread tries again without having been woken. */
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
      Atomics.add(cell, WRITES, 1);
      if (Atomics.exchange(cell, LOCK, FREE) === AWAITED) Atomics.notify(cell, LOCK, 1);
    }
  };
  const wait = (work: () => void) => {
    // A thread that gets the lock here marks it as awaited, since others may wait too. If none does, releasing it wakes nobody.
    if (Atomics.exchange(cell, LOCK, AWAITED) === FREE) return run(work);
    const woken = Atomics.waitAsync(cell, LOCK, AWAITED, RETRY_MS);
    if (woken.async) void woken.value.then(() => wait(work));
    else queueMicrotask(() => wait(work));
  };
  return {
    enter(work) {
      if (Atomics.compareExchange(cell, LOCK, FREE, TAKEN) === FREE) run(work);
      else wait(work);
    },
    writes: () => Atomics.load(cell, WRITES),
  };
}
