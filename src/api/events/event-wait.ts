import { type Clock, sleep } from "../../core/clock.ts";
import type { EventFeed, FeedPage } from "../../store/store.ts";
import { serviceUnavailable, tooManyRequests } from "../errors.ts";

/** The most requests that wait at the same time, in all and per account; more are refused. */
const MAX_WAITING = 2_000;
const MAX_WAITING_OF_ACCOUNT = 50;

/** Waiting requests also poll: another process may have committed events, or this one may be about to stop. */
const POLL_MS = 1_000;

export interface EventWaitDeps {
  readonly feed: Pick<EventFeed, "onEvents">;
  readonly clock: Clock;
  readonly isLeaving: () => boolean;
}

export interface Waiting {
  readonly accountId: string;
  readonly waitMs: number;
  /** Aborts when the client has gone. */
  readonly signal: AbortSignal;
}

export type EventWait = (waiting: Waiting, read: () => Promise<FeedPage>) => Promise<FeedPage>;

/** Reads again and again until there are events, `waitMs` is over, the client has gone, or the process is to stop. Refuses to begin then. */
export function createEventWait({ feed, clock, isLeaving }: EventWaitDeps): EventWait {
  const waiters = createWaiters(feed);
  return async ({ accountId, waitMs, signal }, read) => {
    // A client that was answered at once would ask again at once, until this process takes no connections.
    if (isLeaving()) throw serviceUnavailable();
    const end = clock.monotonicMs() + waitMs;
    const leave = waiters.join(accountId);
    try {
      for (;;) {
        // Taken before the read, so that no commit is missed between them.
        const committed = waiters.nextCommit(accountId);
        const page = await read();
        const leftMs = end - clock.monotonicMs();
        if (page.events.length > 0 || leftMs <= 0 || signal.aborted || isLeaving()) return page;
        await sleep(clock, Math.min(POLL_MS, leftMs), AbortSignal.any([committed, signal]));
      }
    } finally {
      leave();
    }
  };
}

/** The requests that wait for the events of one account. */
interface Waiters {
  count: number;
  /** Aborted, and replaced, with each commit. */
  commit: AbortController;
}

/** The waiting requests of all accounts. Listens to the store only while there are any. */
function createWaiters(feed: EventWaitDeps["feed"]) {
  const byAccount = new Map<string, Waiters>();
  let waiting = 0;
  let stopListening: (() => void) | undefined;

  const wake = (accountId: string) => {
    const waiters = byAccount.get(accountId);
    if (!waiters) return;
    const { commit } = waiters;
    waiters.commit = new AbortController();
    commit.abort();
  };
  const waitersOf = (accountId: string): Waiters => {
    const waiters = byAccount.get(accountId) ?? { count: 0, commit: new AbortController() };
    byAccount.set(accountId, waiters);
    return waiters;
  };

  return {
    /** Adds a waiting request, or refuses it; the returned function takes it away again. */
    join(accountId: string): () => void {
      const ofAccount = byAccount.get(accountId)?.count ?? 0;
      if (waiting >= MAX_WAITING || ofAccount >= MAX_WAITING_OF_ACCOUNT) throw tooManyRequests(1);
      const waiters = waitersOf(accountId);
      waiters.count++;
      waiting++;
      stopListening ??= feed.onEvents(wake);
      return () => {
        waiting--;
        waiters.count--;
        if (waiters.count === 0) byAccount.delete(accountId);
        if (waiting > 0) return;
        stopListening?.();
        stopListening = undefined;
      };
    },
    /** Aborts with the next commit of events of the account. */
    nextCommit: (accountId: string): AbortSignal => waitersOf(accountId).commit.signal,
  };
}
