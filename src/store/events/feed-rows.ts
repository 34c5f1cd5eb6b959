import type { FeedEvent } from "../../core/webhooks/feed-event.ts";

/** Characters, or octets, of content and data in one page: metadata may be long, and all events of a batch repeat it. */
export const MAX_PAGE_SIZE = 1024 * 1024;

/** An event as it is read; `undefined` if what it is about is gone. */
export interface SizedEvent {
  readonly event: FeedEvent | undefined;
  /** What it counts towards `MAX_PAGE_SIZE`. */
  readonly size: number;
}

export const NOTHING: SizedEvent = { event: undefined, size: 0 };

/** Columns that only an event about no message of ours has. */
export interface OtherColumns {
  readonly at: number | null;
  readonly id: string | null;
  readonly type: string | null;
  readonly data: string | null;
}

export function toOther({ at, id, type, data }: OtherColumns): SizedEvent {
  if (at === null || id === null || type === null || data === null) return NOTHING;
  return { event: { kind: "other", id, type, at, data: JSON.parse(data) }, size: data.length };
}
