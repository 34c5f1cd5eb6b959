import { HEALTHY_SCORE } from "../../core/alarms/connector-health.ts";
import { remember } from "../../core/work/remember.ts";
import type { Outlet } from "./outlet.ts";

/** Failover: an SMS that one connector of its route has deferred goes over the next one at once. */
export interface Failover {
  /** The outlet to use if the assigned one has deferred the message before; `undefined`: there is no other, or no need for it. */
  next(messageId: string, assignment: Assignment): Outlet | undefined;
  /**
   * Notes that the assigned outlet deferred the message. True if an outlet that has not tried it yet can take it now. False if
   * none can; next time all outlets may be tried again.
   */
  noteDeferral(messageId: string, assignment: Assignment): boolean;
  /** The message was not deferred this time: earlier deferrals no longer count. */
  forget(messageId: string): void;
}

/** The outlets over which a job's message may go. */
export interface Assignment {
  /** The one that the job was claimed for, with a slot reserved. */
  readonly outlet: Outlet;
  /** All outlets of its route, in order of preference. */
  readonly outlets: readonly Outlet[];
}

/** The most messages that are remembered between two tries. Older ones are forgotten, and wait as if there were one connector. */
const MAX_REMEMBERED = 10_000;

export function createFailover(): Failover {
  const deferredBy = new Map<string, ReadonlySet<string>>();
  return {
    next(messageId, { outlet, outlets }) {
      const tried = deferredBy.get(messageId);
      if (!tried?.has(idOf(outlet))) return undefined;
      return outlets.find((other) => !tried.has(idOf(other)) && canTake(other));
    },
    noteDeferral(messageId, { outlet, outlets }) {
      const tried = new Set([...(deferredBy.get(messageId) ?? []), idOf(outlet)]);
      const canGoOn = outlets.some((other) => !tried.has(idOf(other)) && canTake(other));
      if (canGoOn) remember(deferredBy, [messageId, tried], MAX_REMEMBERED);
      else deferredBy.delete(messageId);
      return canGoOn;
    },
    forget: (messageId) => void deferredBy.delete(messageId),
  };
}

function idOf({ channel }: Outlet): string {
  return channel.connectorId;
}

function canTake(outlet: Outlet): boolean {
  return outlet.isUp() && outlet.available() > 0 && outlet.health().score >= HEALTHY_SCORE;
}
