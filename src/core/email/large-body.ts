import type { Content } from "../messages/message.ts";

/**
 * From so many octets or characters on a body goes ways of its own, so that nobody waits for it: it is read and made
 * into mail on another thread, kept in pieces, and few are sent at a time. A quarter of a MiB takes about a millisecond
 * of each step.
 */
export const LARGE_BODY = 262_144;

/** Whether the texts of a content are long enough for that. */
export function isLargeContent(content: Content): boolean {
  if (content.channel !== "email") return false;
  return (content.bodyText?.length ?? 0) + (content.bodyHtml?.length ?? 0) >= LARGE_BODY;
}
