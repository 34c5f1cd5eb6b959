import type { ClaimedJob } from "../../core/queue/claimed-job.ts";
import type { Route } from "../../core/records/accounts.ts";
import type { Assignment, Failover } from "./failover.ts";
import type { Outlet } from "./outlet.ts";
import { ownerOf } from "./owner-of-job.ts";

/** How long, at least and at most, a message waits for the only connector that may send it. */
const OWNER_WAIT_MS = { least: 1_000, most: 30_000 };

export interface OutletOfJobDeps {
  readonly outletOf: (connectorId: string) => Outlet | undefined;
  readonly failover: Failover;
}

/**
 * The outlet that a job was claimed for, unless another one owns its message or is next to try it: then the slot reserved at the
 * first is given back, and one is reserved at the other. If the owner cannot take the message now: how long the job waits.
 */
export function outletOfJob(
  { outletOf, failover }: OutletOfJobDeps,
  job: ClaimedJob,
  assignment: Assignment & { readonly failoverMode: Route["failover"] },
): { readonly outlet: Outlet } | { readonly owner: string; readonly waitMs: number } {
  const { outlet: assigned } = assignment;
  const owner = ownerOf(job, assignment.failoverMode);
  if (owner === undefined) {
    const other = failover.next(job.messageId, assignment);
    return { outlet: other ? moveReservation(assigned, other) : assigned };
  }
  if (owner === assigned.channel.connectorId) return { outlet: assigned };
  const outlet = outletOf(owner);
  if (!outlet) return { owner, waitMs: OWNER_WAIT_MS.most };
  if (!outlet.isUp()) return { owner, waitMs: downWaitMs(outlet) };
  if (outlet.available() <= 0) return { owner, waitMs: OWNER_WAIT_MS.least };
  return { outlet: moveReservation(assigned, outlet) };
}

/**
 * A quarter of the time for which the outlet has been down, in whole milliseconds: so a message leaves soon after it is back, and
 * costs little while it is away.
 */
function downWaitMs(outlet: Outlet): number {
  return Math.min(OWNER_WAIT_MS.most, Math.max(OWNER_WAIT_MS.least, Math.ceil(outlet.downMs() / 4)));
}

function moveReservation(from: Outlet, to: Outlet): Outlet {
  from.unreserve(1);
  to.reserve(1);
  return to;
}
