import { type Clock, sleep } from "../../../core/clock.ts";
import { openDriver } from "./driver.ts";
import { CHECKPOINT_PAGES } from "./long-log.ts";

/** How often to look whether whoever reads is done. */
const AGAIN_MS = 500;

/** Writes the log of a database back to its file, as readers allow; resolves when what is left of it is short. */
export async function writeLogBack(path: string, clock: Clock): Promise<void> {
  const driver = openDriver(path, { create: false });
  try {
    const checkpoint = driver.prepare<Checkpoint>("PRAGMA wal_checkpoint(PASSIVE)");
    for (;;) {
      const { busy, log, checkpointed } = checkpoint.get() ?? BUSY;
      if (busy === 0 && log - checkpointed <= CHECKPOINT_PAGES) return;
      // Nothing breaks it off: the thread is ended by ending it.
      await sleep(clock, AGAIN_MS);
    }
  } finally {
    driver.close();
  }
}

/** Pages in the log, and how many of them are in the file. `busy`: somebody else is writing them back. */
interface Checkpoint {
  readonly busy: number;
  readonly log: number;
  readonly checkpointed: number;
}

const BUSY: Checkpoint = { busy: 1, log: 0, checkpointed: 0 };
