import { statfs } from "node:fs/promises";
import type { Clock } from "../../core/clock.ts";
import { inTime } from "../../core/work/in-time.ts";
import type { Disk } from "../../delivery/alarm-conditions.ts";

/** The disk of a folder, as `df` shows it to a user without privileges. Rejects if the folder is gone. */
export async function diskOf(folder: string): Promise<Disk> {
  const { bavail, blocks, bsize } = await statfs(folder);
  return { folder, free: bavail * bsize, size: blocks * bsize };
}

/** How long a disk may take to answer. One that is another machine's, such as over NFS, does not answer at all while that is away. */
const LIMIT_MS = 2_000;

/**
 * Makes a look at a disk end: it rejects if there is no answer in time. Until there is one, further looks wait for the same one: each question
 * without an answer occupies one of the few threads that all work on files shares.
 */
export function createDiskLook(clock: Pick<Clock, "after">, ask: () => Promise<Disk>): () => Promise<Disk> {
  let asked: Promise<Disk> | undefined;
  const late = () => {
    throw new Error(`the disk has not answered for ${LIMIT_MS / 1_000} s`);
  };
  return () => {
    asked ??= ask().finally(() => {
      asked = undefined;
    });
    return inTime(clock, { limitMs: LIMIT_MS, late }, asked);
  };
}
