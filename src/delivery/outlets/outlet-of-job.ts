import type { ClaimedJob } from "../../core/queue/claimed-job.ts";
import type { Route } from "../../core/records/accounts.ts";
import { ownerOf } from "../judge.ts";
import type { NextConnector, Offered } from "./next-connector.ts";
import type { Outlet } from "./outlet.ts";

/** How long a message that only one connector may have waits for it at least, and at most. */
const OWNER_WAIT_MS = { least: 1_000, most: 30_000 };

export interface OutletChoice {
  readonly outletOf: (connectorId: string) => Outlet | undefined;
  readonly nextConnector: NextConnector;
}

/**
 * The outlet a job was claimed for, unless another one owns its message or is next to try it: then the slot reserved at the
 * first is given back, and one is reserved at the other. Where the owner cannot take it now: how long the job waits.
 */
export function outletOfJob(
  { outletOf, nextConnector }: OutletChoice,
  job: ClaimedJob,
  offer: Offered & { readonly failover: Route["failover"] },
): { readonly outlet: Outlet } | { readonly owner: string; readonly waitMs: number } {
  const owner = ownerOf(job, offer.failover);
  if (owner === undefined) {
    const other = nextConnector.instead(job.messageId, offer);
    return { outlet: other ? moveReservation(offer.outlet, other) : offer.outlet };
  }
  if (owner === offer.outlet.channel.connectorId) return { outlet: offer.outlet };
  const outlet = outletOf(owner);
  if (!outlet) return { owner, waitMs: OWNER_WAIT_MS.most };
  if (!outlet.isUp()) return { owner, waitMs: downWaitMs(outlet) };
  if (outlet.available() <= 0) return { owner, waitMs: OWNER_WAIT_MS.least };
  return { outlet: moveReservation(offer.outlet, outlet) };
}

/** A quarter of the time for which it has been down, in whole milliseconds: the message leaves soon after it is back, and costs little while it is away. */
function downWaitMs(outlet: Outlet): number {
  return Math.min(OWNER_WAIT_MS.most, Math.max(OWNER_WAIT_MS.least, Math.ceil(outlet.downMs() / 4)));
}

function moveReservation(from: Outlet, to: Outlet): Outlet {
  from.unreserve(1);
  to.reserve(1);
  return to;
}
