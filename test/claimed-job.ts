import type { ClaimedJob } from "../src/core/queue/claimed-job.ts";

/** A live account's job, claimed for the first time; without `expiresAt`, its message never expires. */
export function claimedJob(
  job: Pick<ClaimedJob, "recipient" | "progress" | "content"> & Partial<ClaimedJob>,
): ClaimedJob {
  return {
    jobId: 1,
    flow: 0,
    claim: 1,
    attempt: 0,
    wasInterrupted: false,
    interruptions: 0,
    messageId: "m",
    accountId: "a",
    accountMode: "live",
    settings: {},
    createdAt: 0,
    expiresAt: Number.MAX_SAFE_INTEGER,
    ...job,
  };
}
