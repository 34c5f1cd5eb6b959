import { type Driver, isDamage } from "./driver.ts";

/** A read transaction shared by the reads of one turn of the event loop. */
export interface SharedSnapshot {
  /** To be called before each read: opens the transaction, unless it is open. It ends with the turn at the latest. */
  open(): void;
  end(): void;
}

/** The most reads that share one transaction, so that a long run of reads within one turn sees changes too. */
const MAX_READS = 64;

/**
 * A read that is a transaction of its own locks and unlocks the file, which costs more than a small statement. Writes, and anything
 * else that needs the connection outside a transaction, call `end` first, so that reads see every commit.
 *
 * @param writes a number that changes when another thread has written: a client that the other thread has answered may read here in
 *   the same turn, and has to find what was written
 */
export function createSharedSnapshot(
  driver: Driver,
  schedule: (run: () => void) => void,
  writes: () => number = () => 0,
): SharedSnapshot {
  const begin = driver.prepare("BEGIN");
  const commit = driver.prepare("COMMIT");
  let isOpen = false;
  let reads = 0;
  let seen = 0;

  const end = () => {
    if (!isOpen) return;
    isOpen = false;
    // After an error the engine may have ended it by itself.
    if (!driver.isInTransaction()) return;
    try {
      commit.run();
    } catch (error) {
      // It commits no transaction in which it has met a damaged page, not even one that has only read, but ends it.
      if (!isDamage(error) || driver.isInTransaction()) throw error;
    }
  };
  return {
    open() {
      const written = writes();
      if (++reads > MAX_READS || written !== seen) end();
      if (isOpen || driver.isInTransaction()) return;
      begin.run();
      isOpen = true;
      seen = written;
      reads = 1;
      schedule(end);
    },
    end,
  };
}
