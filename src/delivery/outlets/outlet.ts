import type { Channel, ChannelStatus, OutgoingMessage } from "../../channels/channel.ts";
import { type ConnectorHealth, HEALTHY_SCORE } from "../../core/alarms/connector-health.ts";
import type { Failing } from "../../core/alarms/connector-trouble.ts";
import type { Clock } from "../../core/clock.ts";
import type { SendOutcome } from "../../core/messages/outcome.ts";
import { segmentSms } from "../../core/sms/sms-segments.ts";
import { MOVE_MS } from "../shares/peer-slots.ts";
import type { AttemptedMessage } from "./failing-watch.ts";
import type { Health } from "./health.ts";
import type { LargeLimit } from "./large-limit.ts";
import type { SeenReceipt } from "./receipt-watch.ts";
import type { Throttle } from "./throttle.ts";

/** A channel as the workers share it: its free slots, without those that are reserved for claimed jobs, and within its rate. */
export interface Outlet {
  readonly channel: Channel;
  /** Limits the large messages that are being sent. */
  readonly largeLimit: LargeLimit;
  isUp(): boolean;
  /** Whether it counts as up although it is not up here: its messages wait, or leave through another process. */
  isAwaited(): boolean;
  /** Whether other processes should leave messages to this one: it is healthy, and up here or being opened. */
  isOffered(): boolean;
  /** Milliseconds since `isUp` became false; 0 while it is true. It notices when it is asked, as workers do once a second. */
  downMs(): number;
  health(): ConnectorHealth;
  /** How it fails, if it is up here and takes little of what it is given. */
  failing(): Failing | undefined;
  noteAttempt(job: AttemptedMessage, outcome: SendOutcome): void;
  noteReceipt(receipt: SeenReceipt): void;
  resetHealth(): void;
  /** How many messages may be claimed for it now. */
  available(): number;
  /** Milliseconds until its rate allows another message; 0 if it does now. */
  waitMs(): number;
  reserve(count: number): void;
  /** Gives back reserved slots that turn out not to be needed. */
  unreserve(count: number): void;
  /** Uses one reserved slot for a message about to be sent, and counts its segments against the rate. */
  handOver(message: OutgoingMessage): void;
}

export interface OutletParts {
  readonly clock: Clock;
  readonly throttle: Throttle;
  readonly health: Health;
  readonly largeLimit: LargeLimit;
  /** Called when reserved slots were given back. */
  readonly onSlots: () => void;
  /** Whether messages leave through another process, or should wait until they can. */
  readonly isElsewhere: (own: ChannelStatus) => boolean;
}

export function createOutlet(
  channel: Channel,
  { clock, throttle, health, largeLimit, onSlots, isElsewhere }: OutletParts,
): Outlet {
  let reserved = 0;
  let downSinceMs: number | undefined;
  const isWaitedFor = (own: ChannelStatus) =>
    own.state !== "up" && (isOpening(own, clock) || isElsewhere(own));
  const status = (): ChannelStatus => {
    const own = channel.status();
    return isWaitedFor(own) ? { ...own, state: "up" } : own;
  };
  const look = () => {
    downSinceMs = status().state === "up" ? undefined : (downSinceMs ?? clock.monotonicMs());
    return downSinceMs;
  };
  return {
    channel,
    largeLimit,
    isUp: () => look() === undefined,
    isAwaited: () => isWaitedFor(channel.status()),
    isOffered() {
      const own = channel.status();
      const isHere = own.state === "up" || isOpening(own, clock);
      return isHere && health.score({ ...own, state: "up" }).score >= HEALTHY_SCORE;
    },
    downMs: () => clock.monotonicMs() - (look() ?? clock.monotonicMs()),
    health: () => health.score(status()),
    failing: () => health.failing(channel.status()),
    noteAttempt: health.attempt,
    noteReceipt: health.receipt,
    resetHealth: health.reset,
    available: () => Math.min(channel.freeSlots(), throttle.available()) - reserved,
    waitMs: throttle.waitMs,
    reserve(count) {
      reserved += count;
    },
    unreserve(count) {
      reserved -= count;
      if (count > 0) onSlots();
    },
    handOver(message) {
      // First: if a bug keeps the segments from being counted, nothing is handed over, and the slot is given back by `unreserve`.
      if (throttle.isLimited) throttle.take(segmentsOf(message));
      reserved -= 1;
    },
  };
}

/** Whether the channel is being opened and has not failed yet. After `MOVE_MS` its messages go over others until it is up. */
function isOpening({ state, reason, since }: ChannelStatus, clock: Clock): boolean {
  const ageMs = clock.now() - since;
  // Setting the wall clock does not prolong it.
  return state === "connecting" && reason === undefined && ageMs >= 0 && ageMs < MOVE_MS;
}

/** The segments of a message; 1 for an email, and if the provider renders the text. */
function segmentsOf(message: OutgoingMessage): number {
  return message.channel === "sms" && message.text !== undefined ? segmentSms(message.text).parts.length : 1;
}
