import type { SuppressionReason } from "../suppressions/suppression.ts";
import type { MessageError, TimelineEntry } from "./message.ts";

/** The result of one attempt for one part: a segment of an SMS or a recipient of an email. */
export type PartOutcome =
  | {
      readonly kind: "sent";
      /** The id as the provider wrote it, then, if receipts name it differently, that form; empty if there is no id. */
      readonly providerMessageIds: readonly string[];
      /** True if acceptance is delivery: the recipient's own MX took the email. */
      readonly delivered?: boolean;
      /** False if no receipt will come, so that none becomes overdue. */
      readonly expectsReceipt?: false;
      /** How handsets are to join this segment with the others, in the channel's words: the others have to go out in the same way. */
      readonly joinedBy?: string;
    }
  /**
   * Try later: SMTP 4yz, ESME_RTHROTTLED, a lost session. `isOwnPace`: the provider was not asked, since the part waits for a
   * rate that is set here, or another process may have it. `isAnswer`: the provider was asked, and said so of itself rather than of
   * this message, so it counts as no attempt; false: it was not asked, since it takes nothing now. `mayHaveLeft`: this attempt did not
   * send it, but an earlier one, never confirmed, may have.
   */
  | {
      readonly kind: "deferred";
      readonly error: MessageError;
      readonly retryAfterMs?: number;
      readonly isOwnPace?: true;
      readonly isAnswer?: boolean;
      readonly mayHaveLeft?: true;
    }
  /** Never try again: SMTP 5yz, ESME_RINVDSTADR. `bounced`: the recipient was refused, not the message. */
  | { readonly kind: "rejected"; readonly error: MessageError; readonly bounced?: boolean }
  /**
   * It was transmitted, and no answer came. `providerMessageIds`: the ids that it has if it was taken, if they are known
   * without an answer. `mayHaveLeft`: earlier attempts, of which nothing was recorded, may have sent it too. `leftUnder`: one
   * such attempt, under this earlier claim.
   */
  | {
      readonly kind: "unconfirmed";
      readonly error: MessageError;
      readonly mayHaveLeft?: true;
      readonly leftUnder?: number;
      readonly providerMessageIds?: readonly string[];
      /** As of one that was sent: a receipt may say yet that it was. */
      readonly joinedBy?: string;
    };

export interface SendOutcome {
  /** One for each part of the message. `undefined`: this attempt did not try the part, for example because it was settled. */
  readonly parts: readonly (PartOutcome | undefined)[];
  /** False if the attempt must not use up the retry budget: it was throttled, or nothing was transmitted. */
  readonly countsAsAttempt: boolean;
  /** For the timeline, for example `{ encoding: "gsm7", segments: 2 }`. */
  readonly detail?: TimelineEntry["detail"];
}

/** One part of one message: a segment or a recipient, by its index. */
export interface PartRef {
  readonly messageId: string;
  readonly part: number;
}

/** A provider's later report about a part that it took: an SMPP delivery receipt, a DSN or a callback. */
export interface Receipt {
  readonly connectorId: string;
  /**
   * One of the part's `providerMessageIds`, exactly: if the provider writes the id differently in receipts, the channel has
   * converted it. With a `target` it is only for display, and empty if the provider gave none.
   */
  readonly providerMessageId: string;
  /** A second, different id in the receipt. It counts if no message to the `recipient` has the first one. */
  readonly otherId?: string;
  /** Names the part directly, so that no id is looked up. Without `part`, the `recipient` tells which part. */
  readonly target?: Omit<PartRef, "part"> & { readonly part?: number };
  /** The recipient, as the provider wrote it; of a mail that came back, whom it could not be delivered to. */
  readonly recipient?: string;
  /** `providerMessageId` is our own message id. The provider learned it from us, so it has been handed the message. */
  readonly isOwnId?: true;
  /** Set when a parked receipt is tried again: the connectors, sharing receipts with its own, whose messages it may be about. */
  readonly alsoOf?: readonly string[];
  /** With `alsoOf`: it came only just now, so its message was accepted before it, even if a clock that was set back says otherwise. */
  readonly isRecent?: true;
  /** A handset could have written it, so it only counts for a message to the number that it came from (`recipient`). */
  readonly isByText?: true;
  /** The `partReference` that the part was sent with, if the provider repeats it. */
  readonly reference?: number;
  /** `complained`: the recipient reported the message as unwanted. That changes no status, and is noted on the timeline. */
  readonly status: "sent" | "delivered" | "undelivered" | "expired" | "failed" | "bounced" | "complained";
  /** With `sent`: the provider's word is UNKNOWN, or not known here. It may be the last receipt, so the timeline notes it. */
  readonly isUnclear?: true;
  /** Email: why the recipient is added to the account's suppression list, in the same transaction. */
  readonly suppress?: Exclude<SuppressionReason, "manual">;
  readonly error?: MessageError;
  /** When it reached us, Unix milliseconds. */
  readonly receivedAt: number;
  /** The provider's own words, shortened to 255 characters; no message text. */
  readonly raw?: string;
}

/** What became of a receipt that was stored. */
export interface ReceiptResult {
  /**
   * `applied`: it moved its part, was noted, or said only that the part was sent. `late`: it moved nothing, because the part had a
   * final status, or another copy of it was sent, or may be by an attempt under way. `parked`: it matches no message yet, and is
   * kept until one matches. `unknown`: it names a message or part that does not exist (any more).
   */
  readonly kind: "applied" | "late" | "parked" | "unknown";
  /** Absent if no message was found. */
  readonly messageId?: string;
}
