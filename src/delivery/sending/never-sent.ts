import type { MessageError } from "../../core/messages/message.ts";
import type { PartOutcome } from "../../core/messages/outcome.ts";
import type { ClaimedJob } from "../../core/queue/claimed-job.ts";

/**
 * The outcome of an open part that is not sent, because of something that has happened since it was accepted. If an earlier attempt may
 * have sent it, it stays in doubt: whoever answers STOP at once has got the message, though its own answer was lost.
 */
export function neverSent(job: ClaimedJob, index: number, error: MessageError): PartOutcome {
  const isInDoubt = job.wasInterrupted || job.progress.parts[index]?.status === "unconfirmed";
  return { kind: isInDoubt ? "deferred" : "rejected", error };
}
