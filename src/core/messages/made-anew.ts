import type { Part, Progress } from "./message.ts";
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

/**
 * `countAfter` of an attempt that is told of late. Where another connector has taken all of an SMS meanwhile, perhaps in fewer
 * segments, those beyond that this attempt is not known to have sent are not counted: nothing will be told of them, and the
 * message would wait for it.
 */
export function countAfterLate(
  { channel, parts }: Pick<Progress, "channel" | "parts">,
  { connectorId, outcomes }: LateAttempt,
): number {
  const isAnothers = (part: Part) => part.connectorId !== undefined && part.connectorId !== connectorId;
  const isTakenByAnother = channel === "sms" && !parts.some(isOpen) && parts.some(isAnothers);
  const lastSent = outcomes.findLastIndex((outcome) => outcome?.kind === "sent");
  return Math.max(parts.length, isTakenByAnother ? lastSent + 1 : outcomes.length);
}

interface LateAttempt {
  readonly connectorId?: string;
  readonly outcomes: readonly (PartOutcome | undefined)[];
}
