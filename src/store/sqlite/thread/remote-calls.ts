import type { Clock } from "../../../core/clock.ts";
import { StoreUnavailable } from "../../store.ts";
import { type Answers, type Call, toError } from "./messages.ts";

/** Calls that may wait for an answer; beyond it the store says that it is busy. */
const MAX_WAITING = 20_000;

/** The longest that a call waits for others to share its commit. */
const GATHER_MS = 2;

/** This part of the calls that lately waited at once is worth a commit. */
const ENOUGH = 0.75;

/** Calls to the other thread: those of one turn of the event loop, at least, go out together. */
export interface RemoteCalls {
  call<T>(method: string, ...values: readonly unknown[]): Promise<T>;
  answer(answers: Answers): void;
  /** Takes no more calls; resolves when all that wait are answered. */
  close(): Promise<void>;
  /** Nobody will answer any more. */
  fail(reason: string): void;
}

export function createRemoteCalls(
  post: (calls: readonly Call[]) => void,
  after: Clock["after"],
): RemoteCalls {
  const waiters = createWaiters();
  const batches = createBatches({ post, after, isWaiting: waiters.has, count: waiters.count });
  let lastId = 0;
  let refusal: string | undefined;

  return {
    call<T>(method: string, ...values: readonly unknown[]) {
      const problem = refusal ?? (waiters.count() >= MAX_WAITING ? "too many writes are waiting" : undefined);
      if (problem !== undefined) return Promise.reject(new StoreUnavailable(problem));
      return new Promise<T>((resolve, reject) => {
        const id = ++lastId;
        waiters.add(id, { resolve: (value) => resolve(value as T), reject });
        batches.add([id, method, ...values]);
      });
    },
    answer({ done, values, failures }) {
      for (const id of done) waiters.take(id)?.resolve(undefined);
      for (const [id, value] of values) waiters.take(id)?.resolve(value);
      for (const [id, failure] of failures) waiters.take(id)?.reject(toError(failure));
      batches.answered();
    },
    async close() {
      refusal ??= "the store is closed";
      batches.hurry();
      await waiters.emptied();
    },
    fail(reason) {
      refusal = reason;
      waiters.rejectAll(() => new StoreUnavailable(reason));
    },
  };
}

/**
 * Sends calls in batches, one at a time, so that each is one commit. Callers who wait for answers come back when
 * they have them: half of them would then always wait while the other half is committed, in twice the commits. So
 * a batch leaves when about as many are together as lately were at once, or after `GATHER_MS`.
 */
function createBatches({ post, after, isWaiting, count }: BatchOptions) {
  /** The last call of the batch that is under way: it is the last of them to be answered. */
  let underWay: number | undefined;
  let next: Call[] = [];
  let lately = 1;
  let isScheduled = false;
  let stopGathering: (() => void) | undefined;

  const send = () => {
    stopGathering?.();
    stopGathering = undefined;
    const calls = next;
    next = [];
    underWay = calls.at(-1)?.[0];
    post(calls);
  };
  /** Nobody else came: from now on that many are enough. */
  const giveUp = () => {
    lately = next.length;
    send();
  };
  const look = () => {
    isScheduled = false;
    if (underWay !== undefined || next.length === 0) return;
    lately = Math.max(count(), lately);
    if (next.length >= lately * ENOUGH) send();
    else stopGathering ??= after(GATHER_MS, giveUp);
  };
  const wake = () => {
    if (isScheduled || underWay !== undefined || next.length === 0) return;
    isScheduled = true;
    setImmediate(look);
  };
  return {
    add(call: Call) {
      next.push(call);
      wake();
    },
    answered() {
      if (underWay !== undefined && !isWaiting(underWay)) underWay = undefined;
      wake();
    },
    /** Calls wait for no others any more. */
    hurry() {
      lately = 1;
      wake();
    },
  };
}

interface BatchOptions {
  readonly post: (calls: readonly Call[]) => void;
  readonly after: Clock["after"];
  readonly isWaiting: (id: number) => boolean;
  /** How many calls wait, sent or not. */
  readonly count: () => number;
}

interface Waiter {
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
}

function createWaiters() {
  const waiting = new Map<number, Waiter>();
  const onEmpty: (() => void)[] = [];
  const lookEmpty = () => {
    if (waiting.size === 0) for (const done of onEmpty.splice(0)) done();
  };
  return {
    add: (id: number, waiter: Waiter) => void waiting.set(id, waiter),
    has: (id: number) => waiting.has(id),
    count: () => waiting.size,
    take(id: number): Waiter | undefined {
      const waiter = waiting.get(id);
      waiting.delete(id);
      lookEmpty();
      return waiter;
    },
    rejectAll(reason: () => Error) {
      for (const { reject } of waiting.values()) reject(reason());
      waiting.clear();
      lookEmpty();
    },
    emptied: () =>
      waiting.size === 0
        ? Promise.resolve()
        : new Promise<void>((resolve) => {
            onEmpty.push(resolve);
          }),
  };
}
