import type {
  InboundMessage,
  InboundPiece,
  InboundQuery,
  InboundResult,
} from "../../core/inbound/inbound.ts";

/** What handsets write to us, and who of them wants to hear no more. */
export interface InboundStore {
  /**
   * Stores what providers handed over; durable when it resolves, and only then may it be acknowledged. A message that
   * is whole, or whose last part this is, finds its account (by `inboundNumbers`, of the connector before those of any;
   * else the one account with such a sender), and its stop or start word takes effect, in the same transaction. A
   * repeat stores nothing. One result for each, in order.
   */
  receive(pieces: readonly InboundPiece[]): Promise<readonly InboundResult[]>;
  /** Newest first. */
  list(query: InboundQuery): Promise<readonly InboundMessage[]>;
  /** Messages that are nobody's, counted up to 100,000. */
  unassigned(): Promise<number>;
  /** Those of `to` (E.164) who have opted out of messages of the account from this sender, or from all. */
  optedOut(query: OptOutQuery): Promise<readonly string[]>;
}

export interface OptOutQuery {
  readonly accountId: string;
  /** As `senderKey` writes it; absent: only who wants nothing of the account at all. */
  readonly sender?: string;
  readonly to: readonly string[];
}
