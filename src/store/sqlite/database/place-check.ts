import { realpathSync, statSync } from "node:fs";
import { StoreUnavailable } from "../../store.ts";

/**
 * For a database that was just opened: a check that throws if its files have been moved, removed or replaced since the
 * first check. They could still be written to, but what is stored then is lost with the process, or sent from a copy as
 * well. To be called within a transaction, or after one, when the log exists. Costs a few microseconds. A database that
 * is put back passes again.
 */
export function createPlaceCheck(path: string): () => void {
  if (path === ":memory:") return () => {};
  // SQLite keeps the log beside the file itself, even if that was opened through a symbolic link.
  const isSame = [path, `${realpathSync(path)}-wal`].map(createWatch);
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
