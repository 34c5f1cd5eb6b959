import type { SuppressionReason } from "../suppressions/suppression.ts";
import type { MessageError } from "./message.ts";

/** What one attempt came to for one part: a segment (SMS) or a recipient (email). */
export type PartOutcome =
  | {
      readonly kind: "sent";
      /** The id as the provider wrote it, then as receipts name it where that differs; empty where there is none. */
      readonly providerMessageIds: readonly string[];
      /** True where acceptance is delivery: the recipient's own MX took the email. */
      readonly delivered?: boolean;
      /** False where no receipt will come, so that none is overdue. */
      readonly expectsReceipt?: false;
    }
  /**
   * Try later: SMTP 4yz, ESME_RTHROTTLED, a lost session. `isOwnPace`: it waits for a rate that is set here, and the
   * provider was not asked. `mayHaveLeft`: this attempt did not send it, but an earlier one, never confirmed, may have.
   */
  | {
      readonly kind: "deferred";
      readonly error: MessageError;
      readonly retryAfterMs?: number;
      readonly isOwnPace?: true;
      readonly mayHaveLeft?: true;
    }
  /** Never: SMTP 5yz, ESME_RINVDSTADR. `bounced` where the recipient, not the message, was refused. */
  | { readonly kind: "rejected"; readonly error: MessageError; readonly bounced?: boolean }
  /**
   * It left us, and no answer came. `providerMessageIds`: the ids it has if it was taken, where that is known without an
   * answer. `mayHaveLeft`: so did it perhaps in an earlier attempt, of which nothing was recorded.
   */
  | {
      readonly kind: "unconfirmed";
      readonly error: MessageError;
      readonly mayHaveLeft?: true;
      readonly providerMessageIds?: readonly string[];
    };

export interface SendOutcome {
  /** Aligned with the message's parts. `undefined`: the part was settled already and was not sent again. */
  readonly parts: readonly (PartOutcome | undefined)[];
  /** False when the attempt must not use up the retry budget: throttled, or it never reached the wire. */
  readonly countsAsAttempt: boolean;
  /** For the timeline, for example `{ encoding: "gsm7", segments: 2 }`. */
  readonly detail?: Readonly<Record<string, string | number | boolean>>;
}

/** One part of one message: a segment or a recipient, by its index. */
export interface PartRef {
  readonly messageId: string;
  readonly part: number;
}

/** What a provider reports later of a part that it took: SMPP delivery receipt, DSN, callback. */
export interface Receipt {
  readonly connectorId: string;
  /**
   * One of the part's `providerMessageIds`, exactly: where the provider writes it differently, the channel has put that
   * right. Where there is a `target` it is only shown, and empty if the provider gave none.
   */
  readonly providerMessageId: string;
  /** A second id that the provider gave, another one. It counts where the first is that of no message to the `recipient`. */
  readonly otherId?: string;
  /** Names the part directly, so that no id is looked up. Without `part`, the `recipient` tells which one it is. */
  readonly target?: Omit<PartRef, "part"> & { readonly part?: number };
  /** The recipient, as the provider wrote it. */
  readonly recipient?: string;
  /** `providerMessageId` is the id of our message: the provider was given it, so it has been handed the message. */
  readonly isOwnId?: true;
  /** It is parked, and is looked for among the messages of these connectors, which share receipts with its own. */
  readonly alsoOf?: readonly string[];
  /** A handset could have written it: it is only about a message to the `recipient`, which it came from. */
  readonly isByText?: true;
  /** The `partReference` the part was sent with, where the provider repeats it. */
  readonly reference?: number;
  /** `complained`: the recipient reported it as unwanted; changes no status, and is shown on the timeline. */
  readonly status: "sent" | "delivered" | "undelivered" | "expired" | "failed" | "bounced" | "complained";
  /** `sent`, but perhaps the last that is heard of it: its word is UNKNOWN, or one that is not known here. Shown on the timeline. */
  readonly isUnclear?: true;
  /** Email: what the account's suppression list learns of the recipient, in the same transaction. */
  readonly suppress?: Exclude<SuppressionReason, "manual">;
  readonly error?: MessageError;
  /** Unix milliseconds when it reached us. */
  readonly receivedAt: number;
  /** The provider's own words, shortened to 255 characters; no message text. */
  readonly raw?: string;
}

/** What became of a receipt that was stored. */
export interface ReceiptResult {
  /**
   * `late`: its part had a final state, which stays, or has been sent by another connector since, or may be, since an attempt
   * is under way. `parked`: it matched no message yet, and is kept until one comes. `unknown`: it named a message or a part
   * that does not exist (any more).
   */
  readonly kind: "applied" | "late" | "parked" | "unknown";
  /** Absent where no message was found. */
  readonly messageId?: string;
}
