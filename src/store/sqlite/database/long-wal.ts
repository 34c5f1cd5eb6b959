import { realpathSync, statSync } from "node:fs";
import { Worker } from "node:worker_threads";
import type { Database } from "./database.ts";

/** A commit checkpoints the write-ahead log (WAL) when it has this many pages: 16 MiB. */
export const CHECKPOINT_PAGES = 4_000;

/** The WAL file is truncated to this many octets when SQLite starts it from the beginning. */
export const WAL_SIZE_LIMIT = 67_108_864;

/** From this many octets on, a checkpoint takes so long that no commit may do it itself. */
const LONG_WAL = 2 * WAL_SIZE_LIMIT;

/** How many commits there are between two looks at the WAL's size. */
const LOOK_EVERY = 16;

export interface LongWalOptions {
  /** Path of the database; `:memory:` has no WAL. */
  readonly path: string;
  /** A program that calls `checkpointUntilShort` with its `workerData`; absent: commits checkpoint a WAL of any size. */
  readonly program: URL | undefined;
}

/**
 * During a long read, such as a backup, no checkpoint is possible and the WAL grows. When the read ends, the next commit
 * would checkpoint all of it, about a second for 500 MiB, while everything else waits. So a thread checkpoints a WAL that
 * has become long, until it is short again.
 *
 * @param close closes the store
 * @returns the same, but ends the thread first, if there is one
 */
export function checkpointLongWal(
  db: Pick<Database, "prepare" | "onCommit">,
  { path, program }: LongWalOptions,
  close: () => Promise<void>,
): () => Promise<void> {
  if (path === ":memory:" || !program) return close;
  const wal = `${realpathSync(path)}-wal`;
  let thread: Worker | undefined;
  let commits = 0;

  const everyPages = (pages: number) => void db.prepare(`PRAGMA wal_autocheckpoint = ${pages}`).get();
  const leaveToThread = () => {
    everyPages(0);
    const started = new Worker(program, { workerData: path });
    thread = started;
    // If it fails, the next look starts another one.
    started.on("error", () => {});
    started.on("exit", () => {
      if (thread !== started) return;
      thread = undefined;
      everyPages(CHECKPOINT_PAGES);
    });
  };
  db.onCommit(() => {
    if (++commits % LOOK_EVERY !== 0 || thread) return;
    const size = statSync(wal, { throwIfNoEntry: false })?.size ?? 0;
    if (size >= LONG_WAL) leaveToThread();
  });
  return async () => {
    const running = thread;
    thread = undefined;
    await running?.terminate();
    await close();
  };
}
