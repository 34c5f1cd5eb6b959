import type { Clock } from "../../../core/clock.ts";
import { StoreUnavailable } from "../../store.ts";
import { type Answers, type Call, PLAIN_METHODS, type PlainAnswers, toError } from "./messages.ts";

/** Calls that may wait for an answer; beyond it the store says that it is busy. */
const MAX_WAITING = 20_000;

/** One batch is being committed, and the next is there when that ends. */
const BATCHES_UNDER_WAY = 2;

/** A second batch leaves once it has this share of all waiting calls: with two under way, each carries about half. */
const BATCH_SHARE = 0.4;

/** A batch that takes this long is on a slow disk: a commit takes longer than gathering calls for it. */
const SLOW_MS = 8;

/** On a slow disk a batch leaves once it has this share of the usual number of calls. */
const ENOUGH = 0.9;

/** How fast the usual number falls, batch by batch, when fewer calls come. */
const DECAY = 0.9;

/** The longest that a call waits for others to share its commit. */
const GATHER_MS = 2;

/** Calls to the writing thread, in batches: at least those of one turn of the event loop go together. */
export interface RemoteCalls {
  call<T>(method: string, ...values: readonly unknown[]): Promise<T>;
  /** The same for what is done in several steps, with others' calls in between: no batch waits for its answer. */
  callLong<T>(method: string, ...values: readonly unknown[]): Promise<T>;
  answer(answers: PlainAnswers & Partial<Answers>): void;
  /** Takes no more calls; resolves when all waiting ones are answered. */
  close(): Promise<void>;
  /** Rejects all calls, waiting and later: the thread is gone. */
  fail(reason: string): void;
}

export function createRemoteCalls(post: PostBatch, clock: BatchClock): RemoteCalls {
  const waiters = createWaiters();
  const batches = createBatches({ post, clock, isWaiting: waiters.has, count: waiters.count });
  let lastId = 0;
  let refusal: string | undefined;

  const caller =
    (isLong: boolean) =>
    <T>(method: string, ...values: readonly unknown[]): Promise<T> => {
      const problem = refusal ?? (waiters.count() >= MAX_WAITING ? "too many writes are waiting" : undefined);
      if (problem !== undefined) return Promise.reject(new StoreUnavailable(problem));
      return new Promise<T>((resolve, reject) => {
        const id = ++lastId;
        waiters.add(id, { resolve: (value) => resolve(value as T), reject });
        batches.add([id, method, ...values], isLong);
      });
    };
  return {
    call: caller(false),
    callLong: caller(true),
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

/** `plain`: calls of `PLAIN_METHODS`. Each of the two is sent as one message, unless it is empty. */
type PostBatch = (batch: { readonly plain: readonly Call[]; readonly others: readonly Call[] }) => void;

type BatchClock = Pick<Clock, "after" | "monotonicMs">;

/**
 * Sends calls in batches of about one commit each. While one batch is committed the next gathers, so that neither thread
 * waits for the other. Callers call again once they are answered; sent at once, the second batch would carry only the few
 * that called first, and commits would be many and small. So it leaves when it has its share, or after `GATHER_MS`. On a
 * slow disk there is one batch at a time, which waits for the callers about to call again, so that nobody waits for two
 * commits. But it never waits once it holds a call other than an accept, such as a claim or a settlement.
 */
function createBatches({ post, clock, isWaiting, count }: BatchOptions) {
  const pace = createPace(clock);
  /** Batches sent, each with the id of its last call that is not long: one commit answers all of these, as a rule. */
  let underWay: { readonly last: number; readonly sentMs: number }[] = [];
  let draft = createDraft();
  let isScheduled = false;
  let isOverdue = false;
  let stopGathering: (() => void) | undefined;

  const isFull = () => underWay.length >= pace.batches();
  const isEnough = () => {
    if (pace.isSlow()) return draft.hasOthers() || draft.size() >= pace.usual() * ENOUGH;
    return underWay.length === 0 || draft.size() >= count() * BATCH_SHARE;
  };
  const send = () => {
    stopGathering?.();
    stopGathering = undefined;
    isOverdue = false;
    const last = draft.last();
    if (last !== undefined) underWay.push({ last, sentMs: pace.sent(draft.size()) });
    post(draft.batch);
    draft = createDraft();
  };
  const look = () => {
    isScheduled = false;
    if (draft.size() === 0 || isFull()) return;
    if (isOverdue || isEnough()) return send();
    stopGathering ??= clock.after(GATHER_MS, () => {
      isOverdue = true;
      look();
    });
  };
  const wake = () => {
    if (isScheduled || draft.size() === 0 || isFull()) return;
    isScheduled = true;
    setImmediate(look);
  };
  return {
    add(call: Call, isLong: boolean) {
      draft.add(call, isLong);
      wake();
    },
    answered() {
      const [first] = underWay;
      underWay = underWay.filter(({ last }) => isWaiting(last));
      if (first && first !== underWay[0]) pace.answered(first.sentMs);
      wake();
    },
  };
}

/** A batch that is gathering. */
function createDraft() {
  const batch = { plain: [] as Call[], others: [] as Call[] };
  let last: number | undefined;
  let hasOthers = false;
  return {
    batch,
    size: () => batch.plain.length + batch.others.length,
    /** The id of the call that came last, but for long ones; `undefined`: there is no other. */
    last: () => last,
    /** Calls other than accepts. */
    hasOthers: () => hasOthers,
    add(call: Call, isLong: boolean) {
      const [id, method] = call;
      if (!isLong) last = id;
      hasOthers ||= method !== "intake.accept";
      if (PLAIN_METHODS.has(method)) batch.plain.push(call);
      else batch.others.push(call);
    },
  };
}

/** Keeps track of how fast the disk is, and how many calls batches usually carry. */
function createPace(clock: BatchClock) {
  let isSlow = false;
  let usual = 0;
  return {
    isSlow: () => isSlow,
    batches: () => (isSlow ? 1 : BATCHES_UNDER_WAY),
    usual: () => usual,
    /** Notes a batch of this size; returns the time. */
    sent(size: number): number {
      usual = Math.max(size, usual * DECAY);
      return clock.monotonicMs();
    },
    answered(sentMs: number) {
      isSlow = clock.monotonicMs() - sentMs >= SLOW_MS;
    },
  };
}

interface BatchOptions {
  readonly post: PostBatch;
  readonly clock: BatchClock;
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
