import type { Clock } from "../../../core/clock.ts";
import { StoreUnavailable } from "../../store.ts";
import { SLOW_COMMIT_MS } from "../slow-disk.ts";
import { type Answers, type Call, PLAIN_METHODS, type PlainAnswers, toError } from "./thread-messages.ts";

/** How many calls may wait for an answer. Further ones are told that the store is busy. */
const MAX_WAITING = 20_000;

/** How many batches are under way: while one is committed, the next is there already for when that ends. */
const BATCHES_UNDER_WAY = 2;

/** A second batch leaves once it has this share of all waiting calls: with two under way, each carries about half. */
const BATCH_SHARE = 0.4;

/** On a slow disk a batch leaves once it has this share of the usual number of calls. */
const ENOUGH = 0.9;

/** How fast the usual number of calls falls from batch to batch, when fewer calls come. */
const DECAY = 0.9;

/** The longest that a call waits for others to share its commit. */
const GATHER_MS = 2;

/** Calls to the writing thread, in batches: at least those of one turn of the event loop go together. */
export interface RemoteCalls {
  call<T>(method: string, ...values: readonly unknown[]): Promise<T>;
  /** Like `call`, for a method that takes several commits, with other calls in between: no batch waits for its answer. */
  callLong<T>(method: string, ...values: readonly unknown[]): Promise<T>;
  answer(answers: PlainAnswers & Partial<Answers>): void;
  /** Takes no more calls. Resolves when all that wait have been answered. */
  close(): Promise<void>;
  /** Rejects all calls that wait, and all later ones, since the thread is gone. */
  fail(reason: string): void;
}

export function createRemoteCalls(post: PostBatch, clock: BatchClock): RemoteCalls {
  const waiters = createWaiters();
  const batches = createBatches({ post, clock, waiters });
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

interface BatchOptions {
  readonly post: PostBatch;
  readonly clock: BatchClock;
  readonly waiters: Pick<ReturnType<typeof createWaiters>, "has" | "count">;
}

/**
 * Sends calls in batches of about one commit each. While one batch is committed the next one gathers, so that neither thread
 * waits for the other. `nextStep` says when a batch leaves.
 */
function createBatches({ post, clock, waiters }: BatchOptions) {
  const pace = { isSlow: false, usual: 0 };
  let underWay: readonly SentBatch[] = [];
  let draft = createDraft();
  let isScheduled = false;

  const send = () => {
    const { plain, others, last, stopGathering } = draft;
    draft = createDraft();
    stopGathering?.();
    if (last !== undefined) {
      pace.usual = Math.max(plain.length + others.length, pace.usual * DECAY);
      underWay = [...underWay, { last, sentMs: clock.monotonicMs() }];
    }
    post({ plain, others });
  };
  const look = () => {
    isScheduled = false;
    const step = nextStep(draft, { ...pace, underWay: underWay.length, waiting: waiters.count() });
    if (step === "send") send();
    if (step !== "gather") return;
    const gathering = draft;
    gathering.stopGathering ??= clock.after(GATHER_MS, () => {
      gathering.isOverdue = true;
      look();
    });
  };
  const wake = () => {
    if (isScheduled) return;
    isScheduled = true;
    setImmediate(look);
  };
  return {
    add(call: Call, isLong: boolean) {
      addTo(draft, call, isLong);
      wake();
    },
    answered() {
      const [first] = underWay;
      underWay = underWay.filter(({ last }) => waiters.has(last));
      // On a slow disk a commit takes longer than gathering the calls for it.
      if (first && first !== underWay[0]) pace.isSlow = clock.monotonicMs() - first.sentMs >= SLOW_COMMIT_MS;
      wake();
    },
  };
}

interface SentBatch {
  /** The id of the batch's last call that is not long. As a rule, one commit answers all of these. */
  readonly last: number;
  readonly sentMs: number;
}

type Draft = ReturnType<typeof createDraft>;

/** A batch that is gathering. */
function createDraft() {
  return {
    plain: [] as Call[],
    others: [] as Call[],
    /** The id of the last call that is not long; `undefined` if there is none. */
    last: undefined as number | undefined,
    /** Whether it has a call other than an accept, such as a claim or a settlement. */
    isUrgent: false,
    /** Ends the limit on the time to gather; `undefined` if that has not begun yet. */
    stopGathering: undefined as (() => void) | undefined,
    /** Whether it has gathered for `GATHER_MS`. */
    isOverdue: false,
  };
}

function addTo(draft: Draft, call: Call, isLong: boolean): void {
  const [id, method] = call;
  if (!isLong) draft.last = id;
  draft.isUrgent ||= method !== "intake.accept";
  (PLAIN_METHODS.has(method) ? draft.plain : draft.others).push(call);
}

interface Traffic {
  /** How many batches are sent and not answered. */
  readonly underWay: number;
  /** How many calls wait for an answer, sent or not. */
  readonly waiting: number;
  /** Whether the disk is slow, judged by the last batch that was answered. */
  readonly isSlow: boolean;
  /** How many calls batches usually carry. */
  readonly usual: number;
}

/**
 * Whether the batch leaves, gathers calls for at most `GATHER_MS`, or waits for an answer or a first call.
 *
 * Callers call again once they are answered. Sent at once, the second batch would carry only the few that called first, and
 * commits would be many and small. So a batch leaves when it has its share. On a slow disk there is one batch at a time, which
 * gathers the callers that are about to call again, so that nobody waits for two commits; but an urgent batch leaves at once.
 */
function nextStep(draft: Draft, { underWay, waiting, isSlow, usual }: Traffic) {
  const size = draft.plain.length + draft.others.length;
  const most = isSlow ? 1 : BATCHES_UNDER_WAY;
  if (size === 0 || underWay >= most) return "wait";
  const isEnough = isSlow
    ? draft.isUrgent || size >= usual * ENOUGH
    : underWay === 0 || size >= waiting * BATCH_SHARE;
  return isEnough || draft.isOverdue ? "send" : "gather";
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
      new Promise<void>((resolve) => {
        onEmpty.push(resolve);
        lookEmpty();
      }),
  };
}
