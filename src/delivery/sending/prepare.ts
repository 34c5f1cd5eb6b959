import type { Clock } from "../../core/clock.ts";
import type { ClaimedJob } from "../../core/queue/claimed-job.ts";
import type { Queue, SuppressionStore } from "../../store/store.ts";
import { offerUnsubscribe, type UnsubscribeHeaders } from "./offer-unsubscribe.ts";
import { skipSuppressed } from "./skip-suppressed.ts";
import { type FindSenderDomain, type Prepared, toOutgoing } from "./to-outgoing.ts";

/** Renders the message of a claimed job, or says why it cannot be sent. Rejects while the database is away, and for a bug. */
export type Prepare = (job: ClaimedJob) => Prepared | Promise<Prepared>;

export interface PrepareDeps {
  readonly queue: Pick<Queue, "largeBody">;
  readonly findSenderDomain: FindSenderDomain;
  readonly suppressions: Pick<SuppressionStore, "find">;
  readonly unsubscribeHeaders: UnsubscribeHeaders;
  readonly clock: Clock;
}

export function createPrepare(deps: PrepareDeps): Prepare {
  const { queue, findSenderDomain, suppressions, unsubscribeHeaders, clock } = deps;
  const prepareEmail = async (claimed: ClaimedJob, remainingMs: number): Promise<Prepared> => {
    const job = await withLargeBody(claimed, queue);
    if (!job) return BODY_GONE;
    const rendered = await toOutgoing(job, remainingMs, findSenderDomain);
    const { find } = suppressions;
    const outgoing = await skipSuppressed(rendered, job, { find, now: clock.now() });
    return offerUnsubscribe(outgoing, unsubscribeHeaders);
  };
  return (job) => {
    const remainingMs = job.expiresAt - clock.now();
    return job.content.channel === "email"
      ? prepareEmail(job, remainingMs)
      : toOutgoing(job, remainingMs, findSenderDomain);
  };
}

/** The job with its texts: a claim leaves large ones in the store. `undefined` if they have been wiped since. */
async function withLargeBody(job: ClaimedJob, queue: PrepareDeps["queue"]): Promise<ClaimedJob | undefined> {
  const { content, messageId } = job;
  if (content.channel !== "email" || !content.isBodyApart) return job;
  const { isBodyApart, ...rest } = content;
  const texts = await queue.largeBody?.(messageId);
  return texts && { ...job, content: { ...rest, ...texts } };
}

/** The body was wiped, because a receipt has settled the email since it was claimed. It must not be sent empty. */
const BODY_GONE: Prepared = {
  kind: "impossible",
  error: { code: "body_gone", message: "its text has been wiped, since nothing was left to send" },
};
