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
  /** Gives back reservations that turn out not to be needed. */
  unreserve(count: number): void;
  /** Turns one reservation into a message on the wire, and counts it against the rate. */
  handOver(): void;
}

/** @param onLeftOver called when a reservation was given back */
export function createOutlet(channel: Channel, throttle: Throttle, onLeftOver: () => void): Outlet {
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
      if (count > 0) onLeftOver();
    },
    handOver() {
      reserved -= 1;
      throttle.take(1);
    },
  };
}
