import { RETENTION_MS } from "../../core/time/durations.ts";
import { uuidTime } from "../../core/uuid.ts";

/** A message id from a path, in lower case; `undefined` if it is malformed, or seven days old or older at `now`. */
export function shownMessageId(text: string | undefined, now: number): string | undefined {
  const createdAt = text === undefined ? undefined : uuidTime(text);
  return createdAt !== undefined && createdAt >= oldestShownAt(now) ? text?.toLowerCase() : undefined;
}

/** Unix milliseconds: messages that were created earlier are no longer shown. */
export function oldestShownAt(now: number): number {
  return now - RETENTION_MS + 1;
}
