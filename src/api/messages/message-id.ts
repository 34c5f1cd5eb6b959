import { uuidTime } from "../../core/uuid.ts";

const RETENTION_MS = 7 * 24 * 3600 * 1000;

/** The id of a message that may be shown: well-formed, and made less than seven days before `now`. */
export function shownMessageId(text: string | undefined, now: number): string | undefined {
  const createdAt = text === undefined ? undefined : uuidTime(text);
  return createdAt !== undefined && createdAt >= oldestShownAt(now) ? text?.toLowerCase() : undefined;
}

/** Unix milliseconds: messages made before then are shown no more. */
export function oldestShownAt(now: number): number {
  return now - RETENTION_MS + 1;
}
