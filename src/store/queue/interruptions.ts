import type { ClaimedJob } from "../../core/queue/claimed-job.ts";

/** What a job's row says of its claims that were interrupted. */
export interface InterruptionRow {
  readonly was_interrupted: boolean | number;
  readonly interruptions: number;
  /** As in `ClaimedJob`; means nothing unless the job `was_interrupted`. */
  readonly interrupted_claim: number | null;
}

export function toInterruptions(
  row: InterruptionRow,
): Pick<ClaimedJob, "wasInterrupted" | "interruptions" | "interruptedClaim"> {
  const { interruptions, interrupted_claim: claim } = row;
  const wasInterrupted = Boolean(row.was_interrupted);
  return {
    wasInterrupted,
    interruptions,
    ...(wasInterrupted && claim !== null && { interruptedClaim: claim }),
  };
}
