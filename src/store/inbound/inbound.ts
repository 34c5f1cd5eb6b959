import type {
  InboundMessage,
  InboundPiece,
  InboundQuery,
  InboundResult,
} from "../../core/inbound/inbound.ts";

/** Messages from handsets. */
export interface InboundStore {
  /**
   * Stores what providers handed over; acknowledge it only once this resolves. In the same transaction a message that is
   * whole, or completed by this part, is assigned to its account (by `inboundNumbers`, those of the connector first; else
   * to the only account with such a sender), and its stop or start keyword takes effect. A repeat stores nothing.
   */
  receive(pieces: readonly InboundPiece[]): Promise<readonly InboundResult[]>;
  /**
   * Gives up waiting for the missing parts of messages whose first part came before `before`, and treats what there is as
   * the whole message. Returns how many rows it changed, about `limit` at most.
   */
  storeIncomplete(before: number, limit: number): Promise<number>;
  /** Newest first. Parts that still wait for others are not shown. */
  list(query: InboundQuery): Promise<readonly InboundMessage[]>;
  /** How many messages belong to no account, counted up to 100,000. */
  countUnassigned(): Promise<number>;
  /**
   * Deletes messages that belong to no account, those that came first before others, where there are more than `most`: at
   * most `limit`, and never one of the newest `most`, however many processes do this at once. Returns how many of which connector.
   */
  dropUnassigned(bounds: {
    readonly most: number;
    readonly limit: number;
  }): Promise<readonly DroppedInbound[]>;
}

export interface DroppedInbound {
  readonly connectorId: string;
  readonly messages: number;
}
