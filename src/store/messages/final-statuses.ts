import type { MessageStatus } from "../../core/messages/message.ts";

/** A message with one of these statuses is deleted when its retention is over, since nothing more can happen to it. */
export const FINAL_STATUSES: ReadonlySet<MessageStatus> = new Set([
  "delivered",
  "undelivered",
  "expired",
  "failed",
  "bounced",
]);
