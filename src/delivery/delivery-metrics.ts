import type { ChannelName } from "../core/messages/message.ts";
import type { PartOutcome } from "../core/messages/outcome.ts";

/** What the metrics are told. */
export interface DeliveryMetrics {
  attempt(attempt: {
    channel: ChannelName;
    connector: string;
    kinds: readonly PartOutcome["kind"][];
    ms: number;
  }): void;
  unconfirmed(channel: ChannelName): void;
  /** Receipts that matched no message, deleted because there were too many of them. */
  droppedReceipts(dropped: Dropped): void;
  /** Inbound messages of no account, deleted for the same reason. */
  droppedInbound(dropped: Dropped): void;
}

export interface Dropped {
  readonly connector: string;
  readonly count: number;
}
