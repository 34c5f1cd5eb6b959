import type { ClaimedJob } from "../../core/queue/claimed-job.ts";
import type { Route } from "../../core/records/accounts.ts";
import type { Assignment, Failover } from "./failover.ts";
import type { Outlet } from "./outlet.ts";
import { ownerOf } from "./owner-of-job.ts";

/** A job whose message only one connector may send, `owner`, which cannot take it now. */
export interface WaitsForOwner {
  readonly owner: string;
  /** How long the job waits. */
  readonly waitMs: number;
  /** The owner is up, but without a free slot in this process: the job waits in the owner's own queue. */
  readonly isUp?: true;
}

/** How long, at least and at most, a message waits for an owner that is not up. */
const OWNER_WAIT_MS = { least: 1_000, most: 30_000 };

export interface OutletOfJobDeps {
  readonly outletOf: (connectorId: string) => Outlet | undefined;
  readonly failover: Failover;
}

/**
 * The outlet that a job was claimed for, unless another one owns its message or is next to try it: then the slot reserved at the
 * first is given back, and one is reserved at the other.
 */
export function outletOfJob(
  { outletOf, failover }: OutletOfJobDeps,
  job: ClaimedJob,
  assignment: Assignment & { readonly failoverMode: Route["failover"] },
): { readonly outlet: Outlet } | WaitsForOwner {
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
  if (outlet.available() <= 0) return { owner, waitMs: 0, isUp: true };
  return { outlet: moveReservation(assigned, outlet) };
}

/**
 * A quarter of the time for which the outlet has been down, in whole milliseconds: so a message leaves soon after it is back, and
 * costs little while it is away.
 */
export function downWaitMs(outlet: Outlet): number {
  return Math.min(OWNER_WAIT_MS.most, Math.max(OWNER_WAIT_MS.least, Math.ceil(outlet.downMs() / 4)));
}

function moveReservation(from: Outlet, to: Outlet): Outlet {
  from.unreserve(1);
  to.reserve(1);
  return to;
}
