import type { Driver } from "./driver.ts";

/** The transaction that the reads of one turn of the event loop share. */
export interface SharedSnapshot {
  /** To be called before each read: opens it, unless it is open. It ends with the turn, if nobody ends it sooner. */
  open(): void;
  end(): void;
}

/** Reads that share one at the most: who reads on and on without an end of the turn sees changes too. */
const MOST_READS = 64;

/**
 * A read of its own takes locks of the file and gives them back, which costs more than a small statement does. Writes
 * and whatever else wants the connection outside a transaction `end` it first, so that reads see every commit.
 */
export function createSharedSnapshot(driver: Driver, schedule: (run: () => void) => void): SharedSnapshot {
  const begin = driver.prepare("BEGIN");
  const commit = driver.prepare("COMMIT");
  let isOpen = false;
  let reads = 0;

  const end = () => {
    if (!isOpen) return;
    isOpen = false;
    // After an error of its own the engine may have ended it by itself.
    if (driver.isInTransaction()) commit.run();
  };
  return {
    open() {
      if (++reads > MOST_READS) end();
      if (isOpen || driver.isInTransaction()) return;
      begin.run();
      isOpen = true;
      reads = 1;
      schedule(end);
    },
    end,
  };
}
