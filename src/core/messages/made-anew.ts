import type { Progress } from "./message.ts";
import type { PartOutcome } from "./outcome.ts";
import { isOpen } from "./part.ts";

/**
 * How many parts a message has after an attempt. An SMS of which nothing had been taken is made anew by each attempt: over another
 * connector, or by other settings, it may have fewer segments than an earlier attempt had counted. Those beyond are of no text that
 * is sent: tried again, they would fail the message, or reach the handset as the end of another.
 */
export function countAfter(
  { channel, parts }: Pick<Progress, "channel" | "parts">,
  outcomes: readonly (PartOutcome | undefined)[],
): number {
  const isMadeAnew = channel === "sms" && outcomes.length > 0 && !outcomes.includes(undefined);
  return isMadeAnew && parts.every(isOpen) ? outcomes.length : Math.max(parts.length, outcomes.length);
}
