import { closeSync, fsyncSync, openSync, rmSync, writeSync } from "node:fs";
import { join } from "node:path";
import type { Clock } from "../../core/clock.ts";

/** A disk is slow if it takes this long for a commit. From here on a thread for the store is worth the messages to and from it (ADR 10). */
export const SLOW_COMMIT_MS = 8;

/** How many writes to time. One would not do: a quick disk may be slow for a moment, but a slow disk is never quick. */
const SYNCS = 5;

const PAGE = new Uint8Array(4096);

interface DiskOptions {
  /** The folder has to exist, and to be this process's alone. */
  readonly folder: string;
  readonly clock: Pick<Clock, "monotonicMs">;
  /** For tests and benchmarks: makes the disk slower by taking its time. */
  readonly beforeSync?: (() => void) | undefined;
}

/**
 * Whether each of a few writes takes `SLOW_COMMIT_MS` or longer until it is on the disk. `false` if nothing can be written: then
 * opening the database fails, and says why.
 */
export function isSlowDisk({ folder, clock, beforeSync = () => {} }: DiskOptions): boolean {
  const path = join(folder, "postrider.probe");
  const isSlow = (file: number) => {
    const startMs = clock.monotonicMs();
    beforeSync();
    // In place, as commits overwrite the log.
    writeSync(file, PAGE, 0, PAGE.length, 0);
    fsyncSync(file);
    return clock.monotonicMs() - startMs >= SLOW_COMMIT_MS;
  };
  try {
    const file = openSync(path, "w", 0o600);
    try {
      return Array.from({ length: SYNCS }, () => file).every(isSlow);
    } finally {
      closeSync(file);
      rmSync(path, { force: true });
    }
  } catch {
    return false;
  }
}
