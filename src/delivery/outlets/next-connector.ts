import { HEALTHY_SCORE } from "../../core/alarms/connector-health.ts";
import type { Outlet } from "./outlet.ts";

/** Lets an SMS that one connector of its route has deferred go over the next one, without waiting. */
export interface NextConnector {
  /** The outlet to use instead, where the one it was claimed for has deferred it; `undefined`: none, or no need. */
  instead(messageId: string, offer: Offered): Outlet | undefined;
  /**
   * Notes that `offer.outlet` deferred it. True if an outlet that has not tried it yet can take it now; false if none
   * is left, and next time all may be tried again.
   */
  deferred(messageId: string, offer: Offered): boolean;
  /** It was not deferred this time: what came before no longer counts. */
  forget(messageId: string): void;
}

export interface Offered {
  /** The one it was claimed for, or that has deferred it. */
  readonly outlet: Outlet;
  /** All outlets of its route, in order of preference. */
  readonly outlets: readonly Outlet[];
}

/** Messages remembered between two tries. Beyond, the oldest are forgotten: those wait as if there were one connector. */
const MAX_REMEMBERED = 10_000;

export function createNextConnector(): NextConnector {
  const deferredBy = new Map<string, ReadonlySet<string>>();
  return {
    instead(messageId, { outlet, outlets }) {
      const tried = deferredBy.get(messageId);
      if (!tried?.has(idOf(outlet))) return undefined;
      return outlets.find((other) => !tried.has(idOf(other)) && canTake(other));
    },
    deferred(messageId, { outlet, outlets }) {
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
