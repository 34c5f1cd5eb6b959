import type { Clock } from "../../../core/clock.ts";
import { StoreUnavailable } from "../../store.ts";
import { type Answers, type Call, PLAIN_METHODS, type PlainAnswers, toError } from "./messages.ts";

/** Calls that may wait for an answer; beyond it the store says that it is busy. */
const MAX_WAITING = 20_000;

/** One that is committed, and one that is ready when that is done. */
const BATCHES_UNDER_WAY = 2;

/** Of the calls that lately waited at once: with two batches under way each is to carry about half of them. */
const ENOUGH = 0.4;

/** The longest that a call waits for others, while another batch is under way, to share its commit. */
const GATHER_MS = 2;

/** Calls to the other thread: those of one turn of the event loop, at least, go out together. */
export interface RemoteCalls {
  call<T>(method: string, ...values: readonly unknown[]): Promise<T>;
  answer(answers: PlainAnswers & Partial<Answers>): void;
  /** Takes no more calls; resolves when all that wait are answered. */
  close(): Promise<void>;
  /** Nobody will answer any more. */
  fail(reason: string): void;
}

export function createRemoteCalls(post: PostBatch, after: Clock["after"]): RemoteCalls {
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
      for (const [id, failure] of failures ?? []) waiters.take(id)?.reject(toError(failure));
      batches.answered();
    },
    async close() {
      refusal ??= "the store is closed";
      await waiters.emptied();
    },
    fail(reason) {
      refusal = reason;
      waiters.rejectAll(() => new StoreUnavailable(reason));
    },
  };
}

/** `plain`: of `PLAIN_METHODS` only. Each is one message, or none where it is empty. */
type PostBatch = (batch: { readonly plain: readonly Call[]; readonly others: readonly Call[] }) => void;

/**
 * Sends calls in batches, each about one commit. While one is committed the next gathers, so that neither thread
 * waits for the other. Callers come back when they have their answer: were the second sent at once, it would carry
 * the few that came back first, and commits would be many and small. It leaves when it carries its share, or after
 * `GATHER_MS`.
 */
function createBatches({ post, after, isWaiting, count }: BatchOptions) {
  /** Of each batch under way its last call, which is the last of them to be answered. */
  let underWay: number[] = [];
  let plain: Call[] = [];
  let others: Call[] = [];
  let isScheduled = false;
  let isOverdue = false;
  let stopGathering: (() => void) | undefined;

  const size = () => plain.length + others.length;
  const send = () => {
    stopGathering?.();
    stopGathering = undefined;
    isOverdue = false;
    underWay.push(Math.max(plain.at(-1)?.[0] ?? 0, others.at(-1)?.[0] ?? 0));
    post({ plain, others });
    plain = [];
    others = [];
  };
  const look = () => {
    isScheduled = false;
    if (size() === 0 || underWay.length >= BATCHES_UNDER_WAY) return;
    if (underWay.length === 0 || isOverdue || size() >= count() * ENOUGH) return send();
    stopGathering ??= after(GATHER_MS, () => {
      isOverdue = true;
      look();
    });
  };
  const wake = () => {
    if (isScheduled || size() === 0 || underWay.length >= BATCHES_UNDER_WAY) return;
    isScheduled = true;
    setImmediate(look);
  };
  return {
    add(call: Call) {
      if (PLAIN_METHODS.has(call[1])) plain.push(call);
      else others.push(call);
      wake();
    },
    answered() {
      underWay = underWay.filter(isWaiting);
      wake();
    },
  };
}

interface BatchOptions {
  readonly post: PostBatch;
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
