/** What the rules about receipts read and write. Each engine provides it, inside a transaction. */
import type { AwaitedInstead } from "../../core/messages/copies.ts";
import type { Progress } from "../../core/messages/message.ts";
import type { PartRef, Receipt } from "../../core/messages/outcome.ts";
import type { Step } from "../../core/messages/step.ts";
import type { SuppressionReason } from "../../core/suppressions/suppression.ts";

export interface ReceiptState<M extends KnownMessage> {
  readonly messages: {
    /** The message as it was last saved. */
    find(id: string): M | undefined;
    /** Saves a step. If that settles the message, ends its waiting job and wipes its body; an attempt under way is left alone. */
    save(message: M, step: Step): void;
  };
  readonly knownIds: KnownIds;
  readonly parked: ParkedReceipts;
  readonly unconfirmed: UnconfirmedParts;
  readonly suppressions: {
    learn(message: M, word: { email: string; reason: SuppressionReason; at: number }): void;
    forgive(message: M, email: string): void;
  };
  readonly sizeOf: SizeOf;
  /** Whether an attempt over the connector is on record, or an interrupted one, whose connector nobody knows. */
  wasHandedTo(messageId: string, connectorId: string): boolean;
  /**
   * Whether an attempt is under way that may send again what an earlier one may have sent; never for an account that holds
   * unconfirmed messages. Only asked if `mayBeTooEarly`.
   */
  isSentAgain(message: M): boolean;
}

export interface KnownMessage {
  readonly id: string;
  readonly recipient: string;
  readonly progress: Progress;
}

/** The segments and encoding of an SMS, as its last attempt counted them; empty if none did. */
export type SizeOf = (messageId: string) => { readonly segments?: number; readonly encoding?: string };

/** The ids that providers have given to parts of messages. */
export interface KnownIds {
  /** Records the ids of one part. */
  note(ids: NotedIds): void;
  /** The parts that an id stands for, found by its key (`foldId`); those of newer messages first. */
  find(connectorId: string, key: string): readonly KnownId[];
  /** Notes that the part's receipt has come, so that none is awaited any more. */
  received(part: PartRef): void;
  /** Notes that one connector's copy has failed: if the part's receipt is overdue there, it becomes overdue at the other one. */
  awaitInstead(part: PartRef, instead: AwaitedInstead, at: number): void;
}

export interface NotedIds extends PartRef {
  readonly connectorId: string;
  readonly providerMessageIds: readonly string[];
  /** When the provider took the part, Unix milliseconds; absent if no receipt is expected. */
  readonly awaitedSince?: number | undefined;
}

export interface KnownId extends PartRef {
  /** As receipts are expected to spell it. */
  readonly providerId: string;
}

/** The most messages with the same id that are considered: the newest. */
export const MAX_SHARED_IDS = 32;

/** Sorts newer messages first, and the parts of one message in order. */
export function byMessageAndPart(one: PartRef, other: PartRef): number {
  if (one.messageId === other.messageId) return one.part - other.part;
  return one.messageId < other.messageId ? 1 : -1;
}

/** Receipts that match nothing yet. A receipt with two ids is found by either. */
export interface ParkedReceipts {
  park(receipt: Receipt): void;
  /**
   * Removes and returns the receipts about the ids of one part. The spelling has to be the same; if the number agrees, another
   * form of the id will do, and so will a receipt's other id.
   */
  takeByIds(part: PartIds): readonly Receipt[];
  /** Removes and returns the receipts that carry the reference of an unconfirmed part and are about its number. */
  takeByReference(sent: SentReference): readonly Receipt[];
}

export interface PartIds {
  readonly connectorId: string;
  readonly messageId: string;
  readonly ids: readonly string[];
  readonly recipient: string;
  /** When what became of the attempt is recorded, Unix milliseconds. */
  readonly at: number;
}

export interface SentReference extends Pick<PartIds, "messageId" | "recipient" | "at"> {
  /** `undefined`: it is not known which connector it was. */
  readonly connectorId: string | undefined;
  readonly reference: number;
}

/** The most rows that are considered for one reference: it has only 16 bits, so other parts share it. */
export const MAX_PER_REFERENCE = 100;

/** Segments of SMS that were sent and never answered, by the reference that they carried. */
export interface UnconfirmedParts {
  /**
   * Notes a part. If several connectors may have sent it, as after a failover, receipts from any connector count from then on;
   * their number has to agree in any case.
   *
   * @param connectorId `undefined` if it is not known which connector it was
   */
  note(part: PartRef, connectorId: string | undefined): void;
  /** The parts that the connector may have sent with this reference; those of newer messages first. */
  find(connectorId: string, reference: number): readonly PartRef[];
}
