import type { FeedEvent } from "../../core/webhooks/feed-event.ts";

/**
 * Every public event of an account, until its message is pruned. Events are numbered in the order in which they become
 * readable, so that whoever reads on from a number never misses an event that was written earlier but committed later.
 * Numbers rise, may leave gaps, and are never given twice.
 */
export interface EventFeed {
  /** Events with numbers above `after`, in order. Fewer than `limit` if they are large, but at least one if there is any. */
  read(query: {
    readonly accountId: string;
    readonly after: number;
    readonly limit: number;
  }): Promise<FeedPage>;
  /** The highest number that any event has been given; 0 before the first. */
  lastNumber(): Promise<number>;
  /** The highest number among the events of an account; 0 if there is none. */
  lastNumberOf(accountId: string): Promise<number>;
  /** What clients' cursors are sealed under: 32 random octets, the same for as long as the database exists. */
  cursorKey(): Promise<Uint8Array>;
  /**
   * Numbers committed events, at most `limit`, so that the feed shows them; to be called every 50 ms or so until it returns
   * 0. Always 0 on SQLite, which numbers events as it writes them: with one writer at a time that is the order of commits.
   */
  numberEvents(limit: number): Promise<number>;
  /** Calls `listener` with the account whenever it may have events to read. */
  onEvents(listener: (accountId: string) => void): () => void;
}

export interface FeedPage {
  readonly events: readonly FeedEvent[];
  /** Read on from here: the number of the last event, or `after` where there was none. */
  readonly next: number;
}
