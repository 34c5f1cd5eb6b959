import type {
  InboundMessage,
  InboundPiece,
  InboundQuery,
  InboundResult,
  InboundSpan,
} from "../../core/inbound/inbound.ts";

/** Messages from handsets. */
export interface InboundStore {
  /**
   * Stores what providers delivered; acknowledge it only once this resolves. In the same transaction, a message that is whole,
   * or completed by this part, is assigned to an account and its stop or start keyword takes effect. The account is found by
   * `inboundNumbers`, those of the connector first; else it is the only one with such a sender. A repeat stores nothing.
   */
  receive(pieces: readonly InboundPiece[]): Promise<readonly InboundResult[]>;
  /**
   * Gives up waiting for the missing parts of messages whose first part came before `before`, and treats the parts that came
   * as the whole message. Returns how many rows it changed, about `limit` at most.
   */
  storeIncomplete(before: number, limit: number): Promise<number>;
  /** Takes nothing that comes from now on for a repeat of what came then: the provider is known to have our acknowledgements. */
  endRepeats(of: InboundSpan): Promise<void>;
  /** Messages, newest first, without those whose parts have not all come. */
  list(query: InboundQuery): Promise<readonly InboundMessage[]>;
  /** How many messages belong to no account, counted up to 100,000. */
  countUnassigned(): Promise<number>;
  /**
   * If more than `most` messages belong to no account, deletes the oldest of these, at most `limit`; never one of the newest
   * `most`, however many processes do this at once. Returns how many it deleted, by connector.
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
