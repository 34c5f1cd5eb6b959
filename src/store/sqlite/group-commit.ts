import { StoreUnavailable } from "../store.ts";
import { createTransactions, type Result, type TransactionOptions } from "./transactions.ts";

/** Calls that may wait for a commit; beyond it the store says that it is busy. */
const MAX_WAITING = 20_000;

/** Work one transaction takes at the most, in rows or so: it bounds how long the loop stands still. */
const MAX_WEIGHT = 4_000;

export interface GroupCommit {
  /**
   * Runs `work` in a transaction shared with the other calls of this turn of the event loop, and resolves when
   * that is on disk. `work` may run twice, the second time on its own: it must leave no trace outside the
   * database that `onRollback` does not undo. `weight`: roughly its number of rows.
   */
  write<T>(work: () => T, weight?: number): Promise<T>;
  /** A transaction that may wait within; nothing else is written meanwhile. For the first start only. */
  alone<T>(work: () => Promise<T>): Promise<T>;
  /** Takes no more; resolves when all that waits is committed. */
  close(): Promise<void>;
}

export interface GroupCommitOptions extends TransactionOptions {
  /** Calls back once per turn of the event loop, like `setImmediate`. */
  readonly schedule: (run: () => void) => void;
  readonly onCommit: () => void;
}

export function createGroupCommit(options: GroupCommitOptions): GroupCommit {
  const transactions = createTransactions(options);
  const line = createLine({
    schedule: options.schedule,
    flush(group) {
      const results = transactions.runGroup(group.map((call) => call.work));
      return () => {
        group.forEach((call, index) => {
          answer(call, results[index] ?? { error: new Error("a call was left without a result") });
        });
        options.onCommit();
      };
    },
  });
  let isClosed = false;
  let lastAlone: Promise<unknown> = Promise.resolve();

  return {
    write<T>(work: () => T, weight = 1) {
      if (isClosed) return Promise.reject(new StoreUnavailable("the store is closed"));
      return new Promise<T>((resolve, reject) => {
        line.join({ work, weight, resolve: (value) => resolve(value as T), reject });
      });
    },
    alone(work) {
      if (isClosed) return Promise.reject(new StoreUnavailable("the store is closed"));
      line.hold();
      const mine = lastAlone.then(() => transactions.runAlone(work));
      const leave = () => {
        options.onCommit();
        line.letGo();
      };
      lastAlone = mine.then(leave, leave);
      return mine;
    },
    async close() {
      isClosed = true;
      await lastAlone;
      await line.emptied();
    },
  };
}

interface Call {
  readonly work: () => unknown;
  readonly weight: number;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
}

interface LineOptions {
  readonly schedule: (run: () => void) => void;
  /** Commits a group; what it gives back answers the calls. */
  readonly flush: (group: readonly Call[]) => () => void;
}

/** The calls that wait for the next turn. While it is held, they wait on. */
function createLine({ schedule, flush }: LineOptions) {
  const waiting: Call[] = [];
  const onEmpty: (() => void)[] = [];
  let isScheduled = false;
  let holders = 0;

  const wake = () => {
    if (isScheduled || holders > 0 || waiting.length === 0) return;
    isScheduled = true;
    schedule(turn);
  };
  const turn = () => {
    isScheduled = false;
    if (holders > 0) return;
    const answerAll = flush(takeGroup(waiting));
    wake();
    if (waiting.length === 0) for (const done of onEmpty.splice(0)) done();
    answerAll();
  };

  return {
    join(call: Call): void {
      if (waiting.length >= MAX_WAITING) {
        call.reject(new StoreUnavailable("too many writes are waiting"));
        return;
      }
      waiting.push(call);
      wake();
    },
    hold: () => void holders++,
    letGo(): void {
      holders--;
      wake();
    },
    emptied: async () => {
      if (waiting.length > 0) await new Promise<void>((resolve) => void onEmpty.push(resolve));
    },
  };
}

function takeGroup(waiting: Call[]): Call[] {
  let weight = 0;
  let count = 0;
  for (const call of waiting) {
    weight += call.weight;
    if (count > 0 && weight > MAX_WEIGHT) break;
    count++;
  }
  return waiting.splice(0, count);
}

function answer(call: Call, result: Result): void {
  if ("error" in result) call.reject(result.error);
  else call.resolve(result.value);
}
