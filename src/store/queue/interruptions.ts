import type { ClaimedJob } from "../../core/queue/claimed-job.ts";

/** What a job's row says of the claims that were interrupted since the last settlement. */
export interface InterruptionRow {
  readonly was_interrupted: boolean | number;
  /** 0 if an earlier version of this program has interrupted it. */
  readonly interruptions: number;
  /** The latest. */
  readonly interrupted_claim: number | null;
}

export function toInterruptions(
  row: InterruptionRow,
): Pick<ClaimedJob, "wasInterrupted" | "interruptions" | "interruptedClaim"> {
  if (!row.was_interrupted) return { wasInterrupted: false, interruptions: 0 };
  const { interruptions, interrupted_claim: latest } = row;
  return {
    wasInterrupted: true,
    interruptions: Math.max(1, interruptions),
    ...(interruptions === 1 && latest !== null && { interruptedClaim: latest }),
  };
}
