import type { Channel, ChannelStatus, OutgoingMessage } from "../../channels/channel.ts";
import type { ConnectorHealth } from "../../core/alarms/connector-health.ts";
import type { SendOutcome } from "../../core/messages/outcome.ts";
import { segmentSms } from "../../core/sms/sms-segments.ts";
import type { Attempted, Health } from "./health.ts";
import type { Lane } from "./lane.ts";
import type { SeenReceipt } from "./receipt-watch.ts";
import type { Throttle } from "./throttle.ts";

/** A channel as the workers share it: its free slots less what they have claimed jobs for, within its rate. */
export interface Outlet {
  readonly channel: Channel;
  /** Of its large messages. */
  readonly lane: Lane;
  isUp(): boolean;
  health(): ConnectorHealth;
  noteAttempt(job: Attempted, outcome: SendOutcome): void;
  noteReceipt(receipt: SeenReceipt): void;
  /** Messages that may be claimed for it now. */
  available(): number;
  /** Milliseconds until its rate allows another message; 0 when the rate is not what is in the way. */
  waitMs(): number;
  reserve(count: number): void;
  /** Gives back reservations that turn out not to be needed. */
  unreserve(count: number): void;
  /** Turns one reservation into a message on the wire, and counts its segments against the rate. */
  handOver(message: OutgoingMessage): void;
}

export interface OutletParts {
  readonly throttle: Throttle;
  readonly health: Health;
  readonly lane: Lane;
  /** Called when a reservation was given back. */
  readonly onLeftOver: () => void;
  /** Messages can leave by another process: then what does not leave here is waited for, not sent another way. */
  readonly isUpElsewhere: () => boolean;
}

export function createOutlet(
  channel: Channel,
  { throttle, health, lane, onLeftOver, isUpElsewhere }: OutletParts,
): Outlet {
  let reserved = 0;
  const status = (): ChannelStatus => {
    const own = channel.status();
    return own.state !== "up" && isUpElsewhere() ? { ...own, state: "up" } : own;
  };
  return {
    channel,
    lane,
    isUp: () => status().state === "up",
    health: () => health.score(status()),
    noteAttempt: health.attempt,
    noteReceipt: health.receipt,
    available: () => Math.min(channel.freeSlots(), throttle.available()) - reserved,
    waitMs: () => throttle.waitMs(),
    reserve(count) {
      reserved += count;
    },
    unreserve(count) {
      reserved -= count;
      if (count > 0) onLeftOver();
    },
    handOver(message) {
      reserved -= 1;
      if (throttle.isLimited) throttle.take(segmentsOf(message));
    },
  };
}

/** One where the provider makes the text, and of an email. */
function segmentsOf(message: OutgoingMessage): number {
  return message.channel === "sms" && message.text !== undefined ? segmentSms(message.text).parts.length : 1;
}
