/** What the rules about receipts read and write, as each engine provides it inside a transaction. */
import type { AwaitedInstead } from "../../core/messages/copies.ts";
import type { Progress } from "../../core/messages/message.ts";
import type { PartRef, Receipt } from "../../core/messages/outcome.ts";
import type { Step } from "../../core/messages/step.ts";
import type { SuppressionReason } from "../../core/suppressions/suppression.ts";

export interface ReceiptState<M extends KnownMessage> {
  readonly messages: {
    /** As it was last saved. */
    find(id: string): M | undefined;
    /** Once it is settled, its waiting job ends, and its body is wiped. An attempt under way is left to its settlement. */
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
  /** Whether an attempt over the connector is on record, or one that was interrupted: nobody knows which it was. */
  wasHandedTo(messageId: string, connectorId: string): boolean;
  /**
   * Whether an attempt is under way that may send again what an earlier one may have sent: not where the account holds that.
   * Asked of the messages of `mayBeTooEarly` only.
   */
  isSentAgain(message: M): boolean;
}

export interface KnownMessage {
  readonly id: string;
  readonly recipient: string;
  readonly progress: Progress;
}

/** Segments and encoding of an SMS, as its last attempt counted them; empty where none did. */
export type SizeOf = (messageId: string) => { readonly segments?: number; readonly encoding?: string };

/** The ids providers have given to parts of messages. */
export interface KnownIds {
  /** Records the ids of one part. */
  note(ids: NotedIds): void;
  /** The parts an id stands for, in any case and with any zeros in front; those of newer messages first. */
  find(connectorId: string, key: string): readonly KnownId[];
  /** The part's receipt has come. */
  received(part: PartRef): void;
  /** One connector's has, and says that its copy was not delivered: if the part's is overdue there, it is at another one now. */
  awaitInstead(part: PartRef, instead: AwaitedInstead, at: number): void;
}

export interface NotedIds extends PartRef {
  readonly connectorId: string;
  readonly providerMessageIds: readonly string[];
  /** When the provider took the part, Unix milliseconds; absent where no receipt is expected. */
  readonly awaitedSince?: number | undefined;
}

export interface KnownId extends PartRef {
  /** As receipts are expected to spell it. */
  readonly providerId: string;
}

/** Of the messages that have had the same id, only this many, the newest, are considered. */
export const MAX_SHARED_IDS = 32;

/** Newer messages first, and of one message the parts in order. */
export function byMessageAndPart(one: PartRef, other: PartRef): number {
  if (one.messageId === other.messageId) return one.part - other.part;
  return one.messageId < other.messageId ? 1 : -1;
}

/** Receipts that match nothing yet. One with two ids is found by either. */
export interface ParkedReceipts {
  park(receipt: Receipt): void;
  /**
   * Removes and returns those about the ids of one part: spelled alike or, where the number agrees, in another form or as
   * the other id of a receipt.
   */
  takeByIds(part: PartIds): readonly Receipt[];
  /** Removes and returns those that carry the reference of an unconfirmed part and are about the same number. */
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
  /** `undefined`: it is not known which it was. */
  readonly connectorId: string | undefined;
  readonly reference: number;
}

/** Rows considered for one reference at most: it has only 16 bits, so other parts share it. */
export const MAX_PER_REFERENCE = 100;

/** Parts of SMS that were sent and never answered, by the reference they carried. */
export interface UnconfirmedParts {
  /**
   * Where several connectors may have sent the part, as after failovers, any may from then on: the receipt's number has to agree.
   *
   * @param connectorId `undefined` if it is not known which connector it was
   */
  note(part: PartRef, connectorId: string | undefined): void;
  /** Those that may have gone out by the connector with this reference; newer messages first. */
  find(connectorId: string, reference: number): readonly PartRef[];
}
