import { type Clock, sleep } from "../../core/clock.ts";
import { CommandFailure } from "../commands/command-failure.ts";
import { fetchProblem } from "../network/fetch-problem.ts";
import { type FeedItem, type FeedServer, readFeed } from "./feed-client.ts";

export interface Follow {
  readonly server: FeedServer;
  /** A cursor, or `now`. */
  readonly after: string;
  readonly clock: Clock;
  /** Stops following. */
  readonly signal: AbortSignal;
  /** Called when the feed answers: at the start, and again after trouble. */
  readonly onConnected: () => void;
  readonly onEvent: (event: FeedItem) => Promise<void>;
  /** Called when the feed cannot be read. It is tried again in `waitMs`. */
  readonly onTrouble: (problem: string, waitMs: number) => void;
}

const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 30_000;

/** Passes on every event of the feed, in order, until it is stopped; resolves with the cursor to continue from. */
export async function followFeed(follow: Follow): Promise<string> {
  const { server, clock, signal, onConnected } = follow;
  let cursor = follow.after;
  let failures = 0;
  let isConnected = false;
  while (!signal.aborted) {
    try {
      const page = await readFeed(server, cursor, signal);
      if (!isConnected) onConnected();
      isConnected = true;
      failures = 0;
      // A page has only the cursor of its end. To go on from before it repeats events, and loses none.
      if (!(await passOn(page.data, follow))) break;
      cursor = page.next;
    } catch (error) {
      if (signal.aborted) break;
      if (error instanceof CommandFailure) throw error;
      isConnected = false;
      const waitMs = Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** failures++);
      follow.onTrouble(fetchProblem(error), waitMs);
      await sleep(clock, waitMs, signal);
    }
  }
  return cursor;
}

/** False if it was stopped before the end. */
async function passOn(events: readonly FeedItem[], { signal, onEvent }: Follow): Promise<boolean> {
  for (const event of events) {
    await onEvent(event);
    if (signal.aborted) return false;
  }
  return true;
}
