import type { Part, PartStatus, SmsStatus } from "../messages/message.ts";

/** The life cycle of an SMS. `docs/statuses.md` is drawn from this table. */
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

/** Worst first. */
const ENDINGS = ["failed", "undelivered", "expired", "delivered"] as const;

/**
 * The status of an SMS none of whose segments is still to be sent: delivered when all are, otherwise the worst
 * end of any. A failed segment decides at once, since nothing is worse, and so does one that was never sent within the
 * window, since what lacks it is no message; other ends wait for the last receipt.
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
