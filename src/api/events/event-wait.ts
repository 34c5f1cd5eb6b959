import { type Clock, sleep } from "../../core/clock.ts";
import type { EventFeed, FeedPage } from "../../store/store.ts";
import { tooManyRequests } from "../errors.ts";

/** Requests that wait at one time, of all accounts and of one; more are refused. */
const MAX_WAITING = 2_000;
const MAX_WAITING_OF_ACCOUNT = 50;

/** So often who waits looks by itself: another process may have committed, or this one be about to stop. */
const LOOK_MS = 1_000;

export interface EventWaitDeps {
  readonly feed: EventFeed;
  readonly clock: Clock;
  readonly isDraining: () => boolean;
}

export interface Waiting {
  readonly accountId: string;
  readonly waitMs: number;
  /** The client is gone. */
  readonly signal: AbortSignal;
}

export type EventWait = (waiting: Waiting, read: () => Promise<FeedPage>) => Promise<FeedPage>;

/** Reads until there is something, the time is over, the client is gone, or the process is to stop. */
export function createEventWait({ feed, clock, isDraining }: EventWaitDeps): EventWait {
  const line = createLine(feed);
  return async ({ accountId, waitMs, signal }, read) => {
    const end = clock.monotonicMs() + waitMs;
    const leave = line.join(accountId);
    try {
      for (;;) {
        // Before the read: what is committed from here on rings.
        const rung = line.rung(accountId);
        const page = await read();
        const leftMs = end - clock.monotonicMs();
        if (page.events.length > 0 || leftMs <= 0 || signal.aborted || isDraining()) return page;
        await sleep(clock, Math.min(LOOK_MS, leftMs), AbortSignal.any([rung, signal]));
      }
    } finally {
      leave();
    }
  };
}

interface Bell {
  waiting: number;
  ringing: AbortController;
}

/** Who waits for which account's events. It listens to the store only while somebody does. */
function createLine(feed: EventFeed) {
  const bells = new Map<string, Bell>();
  let waiting = 0;
  let stopListening: (() => void) | undefined;

  const ring = (accountId: string) => {
    const bell = bells.get(accountId);
    if (!bell) return;
    const { ringing } = bell;
    bell.ringing = new AbortController();
    ringing.abort();
  };
  const bellOf = (accountId: string): Bell => {
    const bell = bells.get(accountId) ?? { waiting: 0, ringing: new AbortController() };
    bells.set(accountId, bell);
    return bell;
  };

  return {
    /** Takes a place; gives it back when called. */
    join(accountId: string): () => void {
      const of = bells.get(accountId)?.waiting ?? 0;
      if (waiting >= MAX_WAITING || of >= MAX_WAITING_OF_ACCOUNT) throw tooManyRequests(1);
      const bell = bellOf(accountId);
      bell.waiting++;
      waiting++;
      stopListening ??= feed.onEvents(ring);
      return () => {
        waiting--;
        if (--bell.waiting === 0) bells.delete(accountId);
        if (waiting > 0) return;
        stopListening?.();
        stopListening = undefined;
      };
    },
    /** Aborts with the next commit that gives the account events. */
    rung: (accountId: string): AbortSignal => bellOf(accountId).ringing.signal,
  };
}
