import { HEALTHY_SCORE } from "../../core/alarms/connector-health.ts";
import type { Outlet } from "./outlet.ts";

/** Lets an SMS that one connector of its route has put off go over the next one, without waiting. */
export interface NextConnector {
  /** Of the route's outlets, the one to send it over instead of the one it was claimed for, which has put it off. */
  instead(messageId: string, offer: Offered): Outlet | undefined;
  /**
   * It was put off. True where another outlet has not had it yet and can take it now; false where the round is over,
   * and all may be asked again.
   */
  putOff(messageId: string, offer: Offered): boolean;
  /** It was not put off this time. */
  forget(messageId: string): void;
}

export interface Offered {
  /** The one it was claimed for, or was put off by. */
  readonly outlet: Outlet;
  /** All of its route, in their order. */
  readonly outlets: readonly Outlet[];
}

/** Messages remembered between two tries; the oldest are forgotten first, and wait as if there were one connector. */
const MAX_REMEMBERED = 10_000;

export function createNextConnector(): NextConnector {
  const refusedBy = new Map<string, ReadonlySet<string>>();
  return {
    instead(messageId, { outlet, outlets }) {
      const refused = refusedBy.get(messageId);
      if (!refused?.has(idOf(outlet))) return undefined;
      return outlets.find((other) => !refused.has(idOf(other)) && canTake(other));
    },
    putOff(messageId, { outlet, outlets }) {
      const refused = new Set([...(refusedBy.get(messageId) ?? []), idOf(outlet)]);
      refusedBy.delete(messageId);
      if (!outlets.some((other) => !refused.has(idOf(other)) && canTake(other))) return false;
      refusedBy.set(messageId, refused);
      const [oldest] = refusedBy.keys();
      if (refusedBy.size > MAX_REMEMBERED && oldest !== undefined) refusedBy.delete(oldest);
      return true;
    },
    forget: (messageId) => void refusedBy.delete(messageId),
  };
}

function idOf({ channel }: Outlet): string {
  return channel.connectorId;
}

function canTake(outlet: Outlet): boolean {
  return outlet.isUp() && outlet.available() > 0 && outlet.health().score >= HEALTHY_SCORE;
}
