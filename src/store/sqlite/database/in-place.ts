import { statSync } from "node:fs";
import { StoreUnavailable } from "../../store.ts";

/**
 * Throws where the files of a database are not where they were opened any more: removed, moved, or others in their place.
 * They can be written to all the same, but what is stored then goes with the process, or is sent from a copy too. It costs
 * two looks at a folder, a few microseconds, and is for within a transaction, when the log is there. A database that
 * comes back is in its place again.
 */
export function createPlaceCheck(path: string): () => void {
  if (path === ":memory:") return () => {};
  const isSame = [path, `${path}-wal`].map(createWatch);
  return () => {
    if (isSame.every((look) => look())) return;
    throw new StoreUnavailable(
      `${path} has been moved, removed or replaced while this process had it open: put it back, with its -wal, or nothing more is stored`,
    );
  };
}

/** Whether there is still the file that was there at the first look. */
function createWatch(path: string): () => boolean {
  let first: string | undefined;
  return () => {
    const found = statSync(path, { bigint: true, throwIfNoEntry: false });
    if (!found) return false;
    const now = `${found.dev} ${found.ino}`;
    first ??= now;
    return first === now;
  };
}
