import type { Channel } from "../channels/channel.ts";
import type { Throttle } from "./throttle.ts";

/** A channel as the workers share it: its free slots less what they have claimed jobs for, within its rate. */
export interface Outlet {
  readonly channel: Channel;
  isUp(): boolean;
  /** Messages that may be claimed for it now. */
  available(): number;
  /** Milliseconds until its rate allows another message; 0 when the rate is not what is in the way. */
  waitMs(): number;
  reserve(count: number): void;
  /** Gives back reservations, as messages are handed over or turn out not to exist. */
  unreserve(count: number): void;
  /** Counts a message against the rate, just before the wire. */
  spend(units: number): void;
}

export function createOutlet(channel: Channel, throttle: Throttle): Outlet {
  let reserved = 0;
  return {
    channel,
    isUp: () => channel.status().state === "up",
    available: () => Math.min(channel.freeSlots(), throttle.available()) - reserved,
    waitMs: () => throttle.waitMs(),
    reserve(count) {
      reserved += count;
    },
    unreserve(count) {
      reserved -= count;
    },
    spend: (units) => throttle.take(units),
  };
}
