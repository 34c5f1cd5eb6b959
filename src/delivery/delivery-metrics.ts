import type { ChannelName } from "../core/messages/message.ts";
import type { PartOutcome } from "../core/messages/outcome.ts";

/** What the delivery engine reports to the metrics. */
export interface DeliveryMetrics {
  attempt(attempt: {
    channel: ChannelName;
    connector: string;
    kinds: readonly PartOutcome["kind"][];
    ms: number;
  }): void;
  unconfirmed(channel: ChannelName): void;
  /** Receipts that matched no message were deleted, because there were too many. */
  droppedReceipts(dropped: Dropped): void;
  /** Inbound messages of no account were deleted, because there were too many. */
  droppedInbound(dropped: Dropped): void;
}

export interface Dropped {
  readonly connector: string;
  readonly count: number;
}
