import { StoreUnavailable } from "../store.ts";
import { type Driver, isOutage, type Statement } from "./driver.ts";
import { createGroupCommit } from "./group-commit.ts";
import type { WriteLock } from "./write-lock.ts";

/** What every use case is built on: statements, reads, and writes that share commits. */
export interface Database {
  prepare<Row = unknown>(sql: string): Statement<Row>;
  /** Resolves when `work`'s transaction is on disk. See `GroupCommit.write`. */
  write<T>(work: () => T, weight?: number, place?: "last"): Promise<T>;
  read<T>(work: () => T): Promise<T>;
  /** `forget` runs after every rollback: what was remembered from within may not be so. */
  onRollback(forget: () => void): void;
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
  let isClosed = false;
  const commits = createGroupCommit({
    driver,
    schedule,
    onCommit: () => {
      for (const listener of listeners) listener();
    },
    onRollback: () => {
      for (const forget of forgetters) forget();
    },
    ...(beforeCommit && { beforeCommit }),
    ...(lock && { lock }),
  });

  return {
    prepare: (sql) => driver.prepare(sql),
    write: commits.write,
    async read(work) {
      if (isClosed) throw new StoreUnavailable("the store is closed");
      try {
        return work();
      } catch (cause) {
        throw isOutage(cause) ? new StoreUnavailable("the database cannot be read", { cause }) : cause;
      }
    },
    onRollback: (forget) => void forgetters.push(forget),
    onCommit: (run) => void listeners.push(run),
    async close() {
      if (isClosed) return;
      isClosed = true;
      await commits.close();
      driver.close();
    },
  };
}
