import { damage, outage } from "../../outage.ts";
import { StoreUnavailable } from "../../store.ts";
import { type Driver, isDamage, isOutage, type Statement } from "./driver.ts";
import { createGroupCommit, type Phase } from "./group-commit.ts";
import { createSharedSnapshot } from "./shared-snapshot.ts";
import type { WriteLock } from "./write-lock.ts";

/** What every use case is built on: statements, reads, and writes that share commits. */
export interface Database {
  prepare<Row = unknown>(sql: string): Statement<Row>;
  /** Resolves when `work`'s transaction is on disk. See `GroupCommit.write`. */
  write<T>(work: () => T, weight?: number, phase?: Phase): Promise<T>;
  /** The same if a client waits for it: it overtakes other calls if there are more than one transaction takes. */
  writeForClient<T>(work: () => T, weight?: number, phase?: Phase): Promise<T>;
  /** Reads of one turn of the event loop see the same state of the database, until a write or `renew`. */
  read<T>(work: () => T): Promise<T>;
  /** Lets later reads see what other connections have committed. */
  renew(): void;
  /** Runs `work` outside any transaction, as a checkpoint requires. */
  outsideTransaction<T>(work: () => T): Promise<T>;
  /** Registers a function that runs after every rollback, to drop what was remembered from the transaction. */
  onRollback(forget: () => void): void;
  /**
   * Registers a function that runs at the end of every transaction, as part of it, so that several changes of a row are written
   * once. It also runs after each call of phase `first`, so that the calls after that find the changes in the rows.
   */
  beforeEnd(write: () => void): void;
  /** Registers a function that runs after every commit, once its calls have been answered. */
  onCommit(run: () => void): void;
  close(): Promise<void>;
}

export interface DatabaseOptions {
  readonly driver: Driver;
  readonly schedule: (run: () => void) => void;
  readonly beforeCommit?: () => void;
  readonly lock?: WriteLock;
  readonly hasOwnThread?: boolean | undefined;
}

export function createDatabase(options: DatabaseOptions): Database {
  const { driver, schedule, lock } = options;
  const afterRollback: (() => void)[] = [];
  const afterCommit: (() => void)[] = [];
  const beforeEnd: (() => void)[] = [];
  let isClosed = false;
  const snapshot = createSharedSnapshot(driver, schedule, lock?.writes);
  const writeAll = () => runAll(beforeEnd);
  const commits = createGroupCommit({
    ...options,
    beforeBegin: snapshot.end,
    onCommit: () => runAll(afterCommit),
    beforeEnd: writeAll,
    onRollback: () => runAll(afterRollback),
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

  const within = <T>(work: () => T, phase: Phase | undefined) =>
    phase === undefined ? followedBy(writeAll, work) : work;

  return {
    prepare: (sql) => driver.prepare(sql),
    write: (work, weight, phase) => commits.write(within(work, phase), { weight, phase }),
    writeForClient: (work, weight, phase) =>
      commits.write(within(work, phase), { weight, phase, isForClient: true }),
    read: (work) => reading(work, snapshot.open),
    renew: snapshot.end,
    outsideTransaction: (work) => reading(work, snapshot.end),
    onRollback: (forget) => void afterRollback.push(forget),
    beforeEnd: (write) => void beforeEnd.push(write),
    onCommit: (run) => void afterCommit.push(run),
    async close() {
      if (isClosed) return;
      isClosed = true;
      await commits.close();
      snapshot.end();
      driver.close();
    },
  };
}

/** Turns an outage into the store's own error. */
function orUnavailable(cause: unknown): unknown {
  if (isDamage(cause)) return damage(cause);
  return isOutage(cause) ? outage("the database cannot be read", cause) : cause;
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
