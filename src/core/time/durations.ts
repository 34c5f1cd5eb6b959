export const SECOND_MS = 1_000;
export const MINUTE_MS = 60 * SECOND_MS;
export const HOUR_MS = 60 * MINUTE_MS;
export const DAY_MS = 24 * HOUR_MS;

/** How long a message can be looked up after its creation. Later requests get a 404, and its rows may be deleted once it is final. */
export const RETENTION_MS = 7 * DAY_MS;
