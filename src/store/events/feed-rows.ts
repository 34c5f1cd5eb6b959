import type { FeedEvent } from "../../core/webhooks/feed-event.ts";

/** The most characters, or octets, of content and data in one page: metadata may be long, and each event of a batch repeats it. */
export const MAX_PAGE_SIZE = 1024 * 1024;

/** An event with its size; `undefined` if its message is gone. */
export interface SizedEvent {
  readonly event: FeedEvent | undefined;
  /** How much of `MAX_PAGE_SIZE` it uses up. */
  readonly size: number;
}

export const NOTHING: SizedEvent = { event: undefined, size: 0 };

/** The columns of an event that is not about one of our messages; `null` for all others. */
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
