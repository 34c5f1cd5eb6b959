/** Stands in for the delivery engine: claims what was accepted, and settles it. */
import type { ClaimedJob, Settlement } from "../../src/core/queue/claimed-job.ts";
import { SANDBOX_QUEUES } from "../../src/core/records/routes.ts";
import type { RunningApi } from "./running-api.ts";

export async function claimJobs(
  { store, clock }: RunningApi,
  queue: string = SANDBOX_QUEUES.sms,
): Promise<readonly ClaimedJob[]> {
  return store.queue.claim({ queue, limit: 100, now: clock.now(), leaseMs: 60_000 });
}

/** Sent, unless told otherwise. */
export async function settleJob(
  { store, clock }: RunningApi,
  job: ClaimedJob,
  over: Partial<Settlement> = {},
): Promise<void> {
  await store.queue.settle([
    {
      jobId: job.jobId,
      claim: job.claim,
      messageId: job.messageId,
      at: clock.now(),
      connectorId: "connector-secret",
      countsAsAttempt: true,
      outcomes: [{ kind: "sent", providerMessageIds: [`p-${job.messageId}`] }],
      detail: { segments: 1, encoding: "gsm7" },
      next: { kind: "done" },
      keepsContent: false,
      ...over,
    },
  ]);
}

/** Sends all that is queued for the sandbox's SMS. */
export async function sendQueued(api: RunningApi): Promise<void> {
  for (const job of await claimJobs(api)) await settleJob(api, job);
}
