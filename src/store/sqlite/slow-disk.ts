import { closeSync, fsyncSync, openSync, rmSync, writeSync } from "node:fs";
import { join } from "node:path";
import type { Clock } from "../../core/clock.ts";

/** A disk is slow that takes this long for a commit: from here on a thread for the store is worth its crossings (ADR 10). */
export const SLOW_COMMIT_MS = 8;

/** A quick disk may be slow for a moment; a slow one is not quick. */
const SYNCS = 5;

const PAGE = new Uint8Array(4096);

interface DiskOptions {
  /** It must exist, and be this process's. */
  readonly folder: string;
  readonly clock: Pick<Clock, "monotonicMs">;
  /** For tests and benchmarks: makes the disk slower by taking its time. */
  readonly beforeSync?: (() => void) | undefined;
}

/**
 * Whether each of a few writes takes `SLOW_COMMIT_MS` or longer until it is on the disk. `false` where nothing can be written:
 * opening the database fails then, and says why.
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
