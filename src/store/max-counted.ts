/** How far the store counts what waits. It stops there, so that a scrape of the metrics stays cheap. */
export const MAX_COUNTED = 100_000;
