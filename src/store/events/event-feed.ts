import type { FeedEvent } from "../../core/webhooks/feed-event.ts";

/**
 * Every public event of an account, until its message is pruned. Events are numbered in the order in which they become
 * readable, so a client that reads on from a number never misses an event that was written earlier but committed later.
 * Numbers rise, may have gaps, and are never reused.
 */
export interface EventFeed {
  /** Events with numbers above `after`, in order: at least one if there is any, and fewer than `limit` if they are large. */
  read(query: {
    readonly accountId: string;
    readonly after: number;
    readonly limit: number;
  }): Promise<FeedPage>;
  /** The highest number that any event has had; 0 before the first event. */
  lastNumber(): Promise<number>;
  /** The highest number among the events of an account; 0 if there is none. */
  lastNumberOf(accountId: string): Promise<number>;
  /** The key that clients' cursors are sealed with: 32 random octets, which stay the same for the life of the database. */
  cursorKey(): Promise<Uint8Array>;
  /**
   * Gives numbers to committed events, at most `limit`, which makes them readable; to be called about every 50 ms. Always 0 on
   * SQLite, which numbers events as it writes them: with one writer at a time, that is the order of the commits.
   */
  numberEvents(limit: number): Promise<number>;
  /** Calls `listener` with the account whenever it may have events to read. */
  onEvents(listener: (accountId: string) => void): () => void;
}

export interface FeedPage {
  readonly events: readonly FeedEvent[];
  /** Where to read on: the number of the last event, or `after` if there was none. */
  readonly next: number;
}
