import type { ClaimedJob, Settlement } from "../core/queue/claimed-job.ts";
import { type Queue, untilStored } from "../store/store.ts";
import { type AttemptDeps, createAttempt, type JobLease } from "./attempt.ts";

export interface SendMessageDeps extends AttemptDeps {
  readonly queue: Pick<Queue, "settle" | "release">;
}

/** Takes one claimed job to its settlement. Never throws. */
export type SendMessage = (job: ClaimedJob, lease: JobLease) => Promise<void>;

export function createSendMessage(deps: SendMessageDeps): SendMessage {
  const attempt = createAttempt(deps);
  return async (job, lease) => {
    try {
      const settlement = await attempt(job, lease);
      if (settlement) await settle(deps, settlement);
      else await release(deps, job);
    } catch (error) {
      // A bug. Nothing is lost: the lease runs out, and the job is claimed again.
      deps.log.error(
        { err: error, message_id: job.messageId },
        "a job failed unexpectedly; it is claimed again when its lease ends",
      );
    }
  };
}

async function settle(deps: SendMessageDeps, settlement: Settlement): Promise<void> {
  const [isOurs] = await untilStored(deps, () => deps.queue.settle([settlement]));
  // If nothing was sent, nothing is lost: upkeep has ended the message meanwhile, as it does when one expires.
  if (isOurs || settlement.connectorId === undefined) return;
  const { messageId: message_id, claim } = settlement;
  deps.log.warn({ message_id, claim }, "a lease was lost before its attempt was recorded");
}

async function release(deps: SendMessageDeps, { jobId, claim }: ClaimedJob): Promise<void> {
  await untilStored(deps, () => deps.queue.release([{ jobId, claim }], deps.clock.now()));
}
