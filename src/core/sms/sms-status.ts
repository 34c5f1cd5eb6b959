import type { Part, PartStatus, SmsStatus } from "../messages/message.ts";

/**
 * The life cycle of an SMS. `docs/statuses.md` is drawn from this table. No move is looked up in it: staging and claiming make theirs in
 * the stores, and all others follow from the statuses of the parts (`core/messages/progress.ts`). `progress-properties.test.ts` holds
 * them to the table.
 */
export const SMS_MOVES = {
  scheduled: ["queued", "expired", "failed"],
  queued: ["sending", "expired", "failed"],
  sending: ["sent", "queued", "expired", "failed"],
  sent: ["delivered", "undelivered", "expired", "failed"],
  delivered: [],
  undelivered: [],
  expired: [],
  failed: [],
} as const satisfies Record<SmsStatus, readonly SmsStatus[]>;

/** What each status of an SMS means, for `docs/statuses.md`. */
export const SMS_MEANINGS: Readonly<Record<SmsStatus, string>> = {
  scheduled: "waits for its `schedule_at`",
  queued: "waits for its first attempt, or for the next one after a temporary error",
  sending:
    "an attempt is in progress, or its answer was lost and the message is held (`on_unconfirmed`) until a receipt or a late answer comes",
  sent: "the provider has taken all segments; receipts are awaited, and without one the message stays `sent`",
  delivered: "a receipt for each segment says that it reached the handset",
  undelivered: "a receipt says that the handset could not be reached",
  expired: "its delivery window ended first, here or, by a receipt, at the provider",
  failed:
    "refused for good, out of attempts, or canceled; `error` on its timeline and in its events says which. With the code `unconfirmed` it may have been sent all the same: the answer to an attempt was lost, and it is not tried again",
};

/** Worst first. */
const ENDINGS = ["failed", "undelivered", "expired", "delivered"] as const;

/**
 * The status of an SMS of which no segment is still to be sent. It is `sent` until the last receipt has come; then it is
 * `delivered` if all segments are, otherwise the worst status of any. A failed segment decides at once, since nothing is worse. So
 * does one that expired unsent, since the message is of no use without it.
 */
export function foldSegments(segments: readonly Part[]): SmsStatus {
  const isAny = (status: PartStatus) => segments.some((segment) => segment.status === status);
  if (isAny("failed")) return "failed";
  if (segments.some(wasNeverSent)) return "expired";
  if (isAny("sent")) return "sent";
  return ENDINGS.find(isAny) ?? "failed";
}

function wasNeverSent({ status, connectorId }: Part): boolean {
  return status === "expired" && connectorId === undefined;
}
