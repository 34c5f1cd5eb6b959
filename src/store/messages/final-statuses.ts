import type { MessageStatus } from "../../core/messages/message.ts";

/** A message in one of these is deleted when its retention is over: nothing more is to come. */
export const FINAL_STATUSES: ReadonlySet<MessageStatus> = new Set([
  "delivered",
  "undelivered",
  "expired",
  "failed",
  "bounced",
]);
