import { NOT_SENT } from "../core/messages/lost-settle.ts";
import type { PartOutcome } from "../core/messages/outcome.ts";
import { type ClaimedJob, holdsUnconfirmed, type Settlement } from "../core/queue/claimed-job.ts";
import type { LateRefusal } from "../core/receipts/late-answer.ts";
import type { Queue, Unstored } from "../store/store.ts";
import { type AttemptDeps, type Attempted, createAttempt, type JobLease } from "./attempt.ts";

export interface SendMessageDeps extends AttemptDeps {
  readonly queue: Pick<Queue, "settle" | "move" | "release">;
  readonly unstored: Pick<Unstored, "untilStored">;
  /** Takes the word of an attempt whose lease was lost that it has not sent a part, or any. Returns at once, and never throws. */
  readonly onLateRefusal: (refusal: LateRefusal) => void;
}

/** Takes one claimed job to its settlement. Never throws. */
export type SendMessage = (job: ClaimedJob, lease: JobLease) => Promise<void>;

export function createSendMessage(deps: SendMessageDeps): SendMessage {
  const attempt = createAttempt(deps);
  return async (job, lease) => {
    try {
      const settlement = await attempt(job, lease);
      if (settlement) await settle(deps, job, { settlement, lease });
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

async function settle(
  deps: SendMessageDeps,
  job: ClaimedJob,
  { settlement, lease }: { readonly settlement: Attempted; readonly lease: JobLease },
): Promise<void> {
  const { moveTo: queue } = settlement;
  const of = resultOf(job, lease);
  const [isOurs] = await deps.unstored.untilStored(() => deps.queue.settle([settlement]), of);
  if (isOurs && queue !== undefined) {
    const { jobId, claim, messageId } = job;
    const move = { jobId, claim, messageId, queue };
    await deps.unstored.untilStored(() => deps.queue.move([move]), of);
  }
  if (isOurs) return;
  if (settlement.connectorId === undefined) {
    // If nothing is left to do, upkeep has ended the message meanwhile, as it does when one expires.
    if (settlement.next.kind === "again") tellUnsent(deps, job, lease);
    return;
  }
  const { messageId: message_id, claim } = settlement;
  deps.log.warn({ message_id, claim }, "a lease was lost before its attempt was recorded");
  for (const refusal of refusalsOf(job, settlement)) deps.onLateRefusal(refusal);
}

function resultOf({ messageId }: ClaimedJob, { keep }: JobLease) {
  return { fields: { message_id: messageId }, onWait: keep };
}

/**
 * The parts that a lost attempt has surely not sent. Where the account holds what is in doubt, whoever took the message over holds it
 * because of this attempt.
 */
function refusalsOf(job: ClaimedJob, { connectorId, outcomes }: Settlement): LateRefusal[] {
  if (connectorId === undefined || !holdsUnconfirmed(job)) return [];
  const { jobId, messageId, claim } = job;
  return outcomes.flatMap((answer, part) => {
    const outcome = refusalBy(job, answer);
    return outcome ? [{ connectorId, jobId, messageId, claim, part, outcome }] : [];
  });
}

/** What to tell of an answer that says that a part was not sent; `undefined`: it may have been. See `LateRefusal` for emails. */
function refusalBy(
  { progress }: ClaimedJob,
  answer: PartOutcome | undefined,
): LateRefusal["outcome"] | undefined {
  if (answer?.kind === "deferred") return answer.mayHaveLeft ? undefined : answer;
  if (answer?.kind !== "rejected") return undefined;
  return progress.channel === "sms" ? answer : { kind: "deferred", error: answer.error };
}

/** Puts the job back in line, or, if its lease was lost, tells that the attempt has sent none of its parts. */
async function release(deps: SendMessageDeps, job: ClaimedJob, lease: JobLease): Promise<void> {
  const release = () => deps.queue.release([job], deps.clock.now());
  const [isOurs] = await deps.unstored.untilStored(release, resultOf(job, lease));
  if (!isOurs) tellUnsent(deps, job, lease);
}

function tellUnsent(deps: SendMessageDeps, job: ClaimedJob, { outlet }: JobLease): void {
  if (!holdsUnconfirmed(job)) return;
  const { jobId, messageId, claim } = job;
  const { connectorId } = outlet.channel;
  const outcome = { kind: "deferred", error: NOT_SENT } as const;
  deps.onLateRefusal({ connectorId, jobId, messageId, claim, outcome });
}
