import { StoreUnavailable } from "../../store.ts";
import { type Driver, isOutage, type Statement } from "./driver.ts";
import { createGroupCommit, type Place } from "./group-commit.ts";
import { createSharedSnapshot } from "./shared-snapshot.ts";
import type { WriteLock } from "./write-lock.ts";

/** What every use case is built on: statements, reads, and writes that share commits. */
export interface Database {
  prepare<Row = unknown>(sql: string): Statement<Row>;
  /** Resolves when `work`'s transaction is on disk. See `GroupCommit.write`. */
  write<T>(work: () => T, weight?: number, place?: Place): Promise<T>;
  /** Reads of one turn of the event loop see one state of the database, unless it is written to, or `renew` is called. */
  read<T>(work: () => T): Promise<T>;
  /** Commits of other connections have ended: reads from now on see them. */
  renew(): void;
  /** Runs `work` outside any transaction: a checkpoint can only be made there. */
  alone<T>(work: () => T): Promise<T>;
  /** `forget` runs after every rollback: what was remembered from within may not be so. */
  onRollback(forget: () => void): void;
  /**
   * `write` runs at the end of every transaction, as part of it: several changes of a row are put off till then. But
   * for those that are `late` or `last` it runs after each call as well: calls are free to look at the rows themselves.
   */
  beforeEnd(write: () => void): void;
  /** `run` runs after every commit, when its calls have been answered. */
  onCommit(run: () => void): void;
  close(): Promise<void>;
}

export interface DatabaseOptions {
  readonly driver: Driver;
  readonly schedule: (run: () => void) => void;
  readonly beforeCommit?: () => void;
  readonly lock?: WriteLock;
}

export function createDatabase({ driver, schedule, beforeCommit, lock }: DatabaseOptions): Database {
  const forgetters: (() => void)[] = [];
  const listeners: (() => void)[] = [];
  const writers: (() => void)[] = [];
  let isClosed = false;
  const snapshot = createSharedSnapshot(driver, schedule);
  const writeAll = () => runAll(writers);
  const commits = createGroupCommit({
    driver,
    schedule,
    beforeBegin: snapshot.end,
    onCommit: () => runAll(listeners),
    beforeEnd: writeAll,
    onRollback: () => runAll(forgetters),
    ...(beforeCommit && { beforeCommit }),
    ...(lock && { lock }),
  });

  const reading = async <T>(work: () => T, before: () => void): Promise<T> => {
    if (isClosed) throw new StoreUnavailable("the store is closed");
    try {
      before();
      return work();
    } catch (cause) {
      throw orUnavailable(cause);
    }
  };

  return {
    prepare: (sql) => driver.prepare(sql),
    write: (work, weight, place) =>
      commits.write(place === undefined ? followedBy(writeAll, work) : work, weight, place),
    read: (work) => reading(work, snapshot.open),
    renew: snapshot.end,
    alone: (work) => reading(work, snapshot.end),
    onRollback: (forget) => void forgetters.push(forget),
    beforeEnd: (write) => void writers.push(write),
    onCommit: (run) => void listeners.push(run),
    async close() {
      if (isClosed) return;
      isClosed = true;
      await commits.close();
      snapshot.end();
      driver.close();
    },
  };
}

/** An outage is told in the store's words. */
function orUnavailable(cause: unknown): unknown {
  return isOutage(cause) ? new StoreUnavailable("the database cannot be read", { cause }) : cause;
}

function runAll(all: readonly (() => void)[]): void {
  for (const run of all) run();
}

function followedBy<T>(then: () => void, work: () => T): () => T {
  return () => {
    const value = work();
    then();
    return value;
  };
}
