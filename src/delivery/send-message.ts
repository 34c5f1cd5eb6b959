import { NOT_SENT } from "../core/messages/lost-settle.ts";
import { type ClaimedJob, holdsUnconfirmed, type Settlement } from "../core/queue/claimed-job.ts";
import type { LateRefusal } from "../core/receipts/late-answer.ts";
import { type Queue, untilStored } from "../store/store.ts";
import { type AttemptDeps, createAttempt, type JobLease } from "./attempt.ts";

export interface SendMessageDeps extends AttemptDeps {
  readonly queue: Pick<Queue, "settle" | "release">;
  /** Takes the word of an attempt whose lease was lost that it has not sent a segment, or any. Returns at once, and never throws. */
  readonly onLateRefusal: (refusal: LateRefusal) => void;
}

/** Takes one claimed job to its settlement. Never throws. */
export type SendMessage = (job: ClaimedJob, lease: JobLease) => Promise<void>;

export function createSendMessage(deps: SendMessageDeps): SendMessage {
  const attempt = createAttempt(deps);
  return async (job, lease) => {
    try {
      const settlement = await attempt(job, lease);
      if (settlement) await settle(deps, job, settlement);
      else await release(deps, job, lease);
    } catch (error) {
      // A bug. Nothing is lost: the lease runs out, and the job is claimed again.
      deps.log.error(
        { err: error, message_id: job.messageId },
        "a job failed unexpectedly; it is claimed again when its lease ends",
      );
    }
  };
}

async function settle(deps: SendMessageDeps, job: ClaimedJob, settlement: Settlement): Promise<void> {
  const [isOurs] = await untilStored(deps, () => deps.queue.settle([settlement]));
  // If nothing was sent, nothing is lost: upkeep has ended the message meanwhile, as it does when one expires.
  if (isOurs || settlement.connectorId === undefined) return;
  const { messageId: message_id, claim } = settlement;
  deps.log.warn({ message_id, claim }, "a lease was lost before its attempt was recorded");
  for (const refusal of refusalsOf(job, settlement)) deps.onLateRefusal(refusal);
}

/** The segments that a lost attempt has surely not sent. */
function refusalsOf(job: ClaimedJob, { connectorId, messageId, claim, outcomes }: Settlement): LateRefusal[] {
  if (connectorId === undefined || !mayBeHeld(job)) return [];
  return outcomes.flatMap((outcome, part) => {
    const isUnsent = outcome?.kind === "rejected" || (outcome?.kind === "deferred" && !outcome.mayHaveLeft);
    return isUnsent ? [{ connectorId, messageId, claim, part, outcome }] : [];
  });
}

/** Whether whoever took the message over may hold it because of this attempt: the account holds what is in doubt. */
function mayBeHeld(job: ClaimedJob): boolean {
  return job.progress.channel === "sms" && holdsUnconfirmed(job);
}

/** Puts the job back in line, or, if its lease was lost, tells that the attempt has sent none of its segments. */
async function release(deps: SendMessageDeps, job: ClaimedJob, { outlet }: JobLease): Promise<void> {
  const [isOurs] = await untilStored(deps, () => deps.queue.release([job], deps.clock.now()));
  if (isOurs || !mayBeHeld(job)) return;
  const { messageId, claim } = job;
  const { connectorId } = outlet.channel;
  deps.onLateRefusal({ connectorId, messageId, claim, outcome: { kind: "deferred", error: NOT_SENT } });
}
