import { type Clock, sleep } from "../../../core/clock.ts";
import { openDriver } from "./driver.ts";
import { CHECKPOINT_PAGES } from "./long-wal.ts";

/** How often to look whether the long read has ended. */
const RETRY_MS = 500;

/** Checkpoints a database's write-ahead log as far as readers allow; resolves when the rest is short. */
export async function checkpointUntilShort(path: string, clock: Clock): Promise<void> {
  const driver = openDriver(path, { create: false });
  try {
    const checkpoint = driver.prepare<Checkpoint>("PRAGMA wal_checkpoint(PASSIVE)");
    for (;;) {
      const { busy, log, checkpointed } = checkpoint.get() ?? BUSY;
      if (busy === 0 && log - checkpointed <= CHECKPOINT_PAGES) return;
      // There is no stop signal: to end it, the thread is terminated.
      await sleep(clock, RETRY_MS);
    }
  } finally {
    driver.close();
  }
}

/** Pages in the log, and how many of them are in the database file. `busy`: another connection is checkpointing. */
interface Checkpoint {
  readonly busy: number;
  readonly log: number;
  readonly checkpointed: number;
}

const BUSY: Checkpoint = { busy: 1, log: 0, checkpointed: 0 };
