import { realpathSync, statSync } from "node:fs";
import { Worker } from "node:worker_threads";
import type { Database } from "./database.ts";

/** Pages of the log after which a commit writes them back to the database file: 16 MiB. */
export const CHECKPOINT_PAGES = 4_000;

/** Octets that stay of the log's file when it begins anew. */
export const LEFT_OF_LOG = 67_108_864;

/** From so many octets on the log is long: no commit may be the one that writes it back. */
const LONG = 2 * LEFT_OF_LOG;

/** Commits between two looks at the log's length. */
const LOOK_EVERY = 16;

/** `close` of a store that waits for the thread's end. */
export function closeAfter(
  endThread: () => Promise<void>,
  { close }: { close(): Promise<void> },
): () => Promise<void> {
  return async () => {
    await endThread();
    await close();
  };
}

export interface LongLogOptions {
  /** Of the database; `:memory:` has no log. */
  readonly path: string;
  /** A program that calls `writeLogBack` with its `workerData`; absent: commits write back a log of any length. */
  readonly program: URL | undefined;
}

/**
 * While somebody reads for long, such as a backup, nothing that is committed can be written back, and the log grows. Once
 * he is done the next commit would write back all of it, which takes a second for some 500 MiB, with everything else
 * waiting. So a log that has become long is left to a thread until it is short.
 *
 * @returns ends the thread, if there is one
 */
export function relieveLongLog(
  db: Pick<Database, "prepare" | "onCommit">,
  { path, program }: LongLogOptions,
): () => Promise<void> {
  if (path === ":memory:" || !program) return async () => {};
  const log = `${realpathSync(path)}-wal`;
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
    const size = statSync(log, { throwIfNoEntry: false })?.size ?? 0;
    if (size >= LONG) leaveToThread();
  });
  return async () => {
    const running = thread;
    thread = undefined;
    await running?.terminate();
  };
}
