import type {
  InboundMessage,
  InboundPiece,
  InboundQuery,
  InboundResult,
} from "../../core/inbound/inbound.ts";

/** Messages from handsets, and who has opted out by one. */
export interface InboundStore {
  /**
   * Stores what providers handed over; acknowledge it only once this resolves. In the same transaction a message that is
   * whole, or completed by this part, is assigned to its account (by `inboundNumbers`, those of the connector first; else
   * to the only account with such a sender), and its stop or start keyword takes effect. A repeat stores nothing. One
   * result for each piece, in order.
   */
  receive(pieces: readonly InboundPiece[]): Promise<readonly InboundResult[]>;
  /**
   * Gives up waiting for missing parts of messages whose first part came before `before`: stores them as they are. Returns
   * how many rows it changed, about `limit` at most.
   */
  complete(before: number, limit: number): Promise<number>;
  /** Newest first. */
  list(query: InboundQuery): Promise<readonly InboundMessage[]>;
  /** How many messages belong to no account, counted up to 100,000. */
  unassigned(): Promise<number>;
  /** Which numbers of `to` (E.164) have opted out of the account's messages, from this sender or from all. */
  optedOut(query: OptOutQuery): Promise<readonly string[]>;
}

export interface OptOutQuery {
  readonly accountId: string;
  /** As `senderKey` writes it; absent: only opt-outs from all of the account's messages count. */
  readonly sender?: string;
  readonly to: readonly string[];
}
