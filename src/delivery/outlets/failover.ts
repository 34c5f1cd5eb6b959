import { HEALTHY_SCORE } from "../../core/alarms/connector-health.ts";
import type { Outlet } from "./outlet.ts";

/** Failover: an SMS that one connector of its route has deferred goes over the next one, without waiting. */
export interface Failover {
  /** The outlet to use instead of the assigned one, where that has deferred the message before; `undefined`: none, or no need. */
  next(messageId: string, assignment: Assignment): Outlet | undefined;
  /**
   * Notes that the assigned outlet deferred the message. True if an outlet that has not tried it yet can take it now; false
   * if none is left, and next time all may be tried again.
   */
  noteDeferral(messageId: string, assignment: Assignment): boolean;
  /** It was not deferred this time: what came before no longer counts. */
  forget(messageId: string): void;
}

/** Over which outlets a job's message may go. */
export interface Assignment {
  /** The one that the job was claimed for, with a slot reserved. */
  readonly outlet: Outlet;
  /** All outlets of its route, in order of preference. */
  readonly outlets: readonly Outlet[];
}

/** Messages remembered between two tries. Beyond, the oldest are forgotten: those wait as if there were one connector. */
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
      deferredBy.delete(messageId);
      if (!outlets.some((other) => !tried.has(idOf(other)) && canTake(other))) return false;
      deferredBy.set(messageId, tried);
      const [oldest] = deferredBy.keys();
      if (deferredBy.size > MAX_REMEMBERED && oldest !== undefined) deferredBy.delete(oldest);
      return true;
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
