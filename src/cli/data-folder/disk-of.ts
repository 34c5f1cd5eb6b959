import { statfs } from "node:fs/promises";
import type { Disk } from "../../delivery/alarm-conditions.ts";

/** The disk of a folder, as `df` shows it to a user without privileges. Rejects if the folder is gone. */
export async function diskOf(folder: string): Promise<Disk> {
  const { bavail, blocks, bsize } = await statfs(folder);
  return { folder, free: bavail * bsize, size: blocks * bsize };
}
