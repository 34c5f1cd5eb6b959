/** How far the store counts what waits. Beyond it counting stops, so that a scrape stays cheap. */
export const MAX_COUNTED = 100_000;
