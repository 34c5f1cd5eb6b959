import type { WebhookClaim } from "../store.ts";

/** How many events a claim asks for. */
export function eventsOf({ lanes }: Pick<WebhookClaim, "lanes">): number {
  return lanes.reduce((sum, { limit }) => sum + limit, 0);
}

/** The same claim, for at most `most` events: those of its first lanes. */
export function someOf(claim: WebhookClaim, most: number): WebhookClaim {
  let left = most;
  const lanes = claim.lanes.flatMap((lane) => {
    const limit = Math.min(lane.limit, left);
    left -= limit;
    return limit > 0 ? [{ ...lane, limit }] : [];
  });
  return { ...claim, lanes };
}
