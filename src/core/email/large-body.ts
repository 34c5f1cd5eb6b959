import type { Content } from "../messages/message.ts";

/**
 * A body of at least this many octets or characters is large, and treated separately so that nobody has to wait for it: it is
 * parsed and composed on another thread, stored in pieces, and only a few are sent at a time. Each of these steps takes about a
 * millisecond for a quarter of a MiB.
 */
export const LARGE_BODY = 262_144;

/** Whether the bodies of a content are large, taken together. */
export function isLargeContent(content: Content): boolean {
  if (content.channel !== "email") return false;
  return (content.bodyText?.length ?? 0) + (content.bodyHtml?.length ?? 0) >= LARGE_BODY;
}
