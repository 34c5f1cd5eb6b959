/** Settlements whose leases were checked: in which order they are recorded, and what they make of their messages. */
import { settleAttempt } from "../../core/messages/early-failure.ts";
import { noteLostSettle } from "../../core/messages/lost-settle.ts";
import type { Progress } from "../../core/messages/message.ts";
import type { EndedAttempt } from "../../core/messages/progress.ts";
import type { Step } from "../../core/messages/step.ts";
import type { Settlement } from "../../core/queue/claimed-job.ts";
import { toIndexes } from "../messages/message-rows.ts";

export interface CheckedSettlement<Job extends SettledJob = SettledJob> {
  readonly settlement: Settlement;
  /** `undefined`: the lease was lost. */
  readonly job: Job | undefined;
}

interface SettledJob {
  /** The indexes of the parts that it covers, as they are stored: JSON, or `null` for all. */
  readonly parts: string | null;
}

/**
 * First those whose lease still holds, then those whose lease was lost. So what a lost attempt sent becomes an earlier copy than that
 * of the message's latest attempt, and if two messages have the same provider id, a parked receipt goes to the one that still waits for
 * it.
 */
export function heldFirst<Checked extends CheckedSettlement>(
  checked: readonly Checked[],
): readonly Checked[] {
  return [...checked.filter(({ job }) => job), ...checked.filter(({ job }) => !job)];
}

/** What a settlement makes of its message. */
export function settlementStep(before: Progress, { settlement, job }: CheckedSettlement): Step {
  const attempt = toAttempt(settlement, job?.parts ?? null);
  return job ? settleAttempt(before, attempt) : noteLostSettle(before, attempt);
}

function toAttempt(settlement: Settlement, parts: string | null): EndedAttempt {
  const { parts: only } = toIndexes(parts);
  return {
    at: settlement.at,
    ...(settlement.connectorId !== undefined && { connectorId: settlement.connectorId }),
    claim: settlement.claim,
    outcomes: settlement.outcomes,
    ...(settlement.detail && { detail: settlement.detail }),
    next: settlement.next,
    ...(only && { only }),
  };
}
