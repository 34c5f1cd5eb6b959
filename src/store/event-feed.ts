import type { FeedEvent } from "../core/webhooks/feed-event.ts";

/**
 * Every public event of an account, until its message goes. Events are numbered in the order in which they can be
 * read: whoever goes on from a number it was given never misses an event that was written before but committed
 * after. Numbers only rise, leave gaps, and are never given twice.
 */
export interface EventFeed {
  /** Events with numbers above `after`, in order; fewer than `limit` where they are large, and always one if there is one. */
  read(query: {
    readonly accountId: string;
    readonly after: number;
    readonly limit: number;
  }): Promise<FeedPage>;
  /** The highest number any event has been given; 0 before the first. */
  lastNumber(): Promise<number>;
  /** Calls `listener` with the account whenever it may have events to read. Returns the unsubscriber. */
  onEvents(listener: (accountId: string) => void): () => void;
}

export interface FeedPage {
  readonly events: readonly FeedEvent[];
  /** Read on from here: the number of the last event, or `after` where there was none. */
  readonly next: number;
}
