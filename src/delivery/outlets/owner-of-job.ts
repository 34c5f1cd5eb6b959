/** Decides whether one connector owns a message, so that no other may send it. Pure. */
import type { MessageError } from "../../core/messages/message.ts";
import type { SendOutcome } from "../../core/messages/outcome.ts";
import { isOpen } from "../../core/messages/part.ts";
import { type ClaimedJob, hasOpenPart, holdsUnconfirmed } from "../../core/queue/claimed-job.ts";
import type { Route } from "../../core/records/accounts.ts";

/** What a job's owner is told by. */
type OwnedJob = Pick<ClaimedJob, "progress" | "parts" | "settings">;

/**
 * The only connector that may send the rest of the message, if there is one:
 *
 * - the one that took some segments of an SMS. Segments from two connectors may differ in sender and encoding, and a
 *   handset would not join them;
 * - the one that may have taken the message, because its answer was lost, unless the route lets others try
 *   (`failover: always`). For an SMS of an account that holds unconfirmed messages, it stays the only one even then.
 */
export function ownerOf(job: OwnedJob, failover: Route["failover"]): string | undefined {
  const isFree = failover === "always" && !(job.progress.channel === "sms" && holdsUnconfirmed(job));
  return takenInPartBy(job) ?? (isFree ? undefined : mayBeTakenBy(job));
}

/**
 * Whether another connector may send the message: the provider deferred everything that was tried, and no provider has a part of
 * the message, or may have one. A part that only waited for our own rate was not tried. Never for an email: a host that
 * greylists wants to see the same server again.
 */
export function canFailOver(job: ClaimedJob, { parts }: SendOutcome, failover: Route["failover"]): boolean {
  if (job.progress.channel !== "sms" || ownerOf(job, failover) !== undefined) return false;
  const tried = parts.filter((part) => part && !(part.kind === "deferred" && part.isOwnPace));
  return tried.length > 0 && tried.every((part) => part?.kind === "deferred");
}

/** Why a message fails whose owner has been deleted: a handset would not join segments from two connectors. */
export function ownerDeleted({ progress: { parts } }: ClaimedJob, owner: string): MessageError {
  const own = parts.filter(({ connectorId }) => connectorId === owner);
  const had = own.some(isOpen) ? "may have taken" : "had taken";
  const message = `the connector that ${had} ${own.length} of its ${parts.length} segments was deleted, and another cannot send the rest`;
  return { code: "connector_deleted", message };
}

function takenInPartBy(job: OwnedJob): string | undefined {
  if (job.progress.channel !== "sms") return undefined;
  return job.progress.parts.find((part) => !isOpen(part) && part.connectorId !== undefined)?.connectorId;
}

/** The connector that an open part names: it does so only if an attempt over that connector was never confirmed. */
function mayBeTakenBy(job: OwnedJob): string | undefined {
  return job.progress.parts.find((part, index) => hasOpenPart(job, index) && part.connectorId !== undefined)
    ?.connectorId;
}
