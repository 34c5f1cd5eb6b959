import type { SuppressionReason } from "../suppressions/suppression.ts";
import type { MessageError } from "./message.ts";

/** What one attempt came to for one part: a segment (SMS) or a recipient (email). */
export type PartOutcome =
  | {
      readonly kind: "sent";
      /** First as the provider wrote it, then, where that is another, as receipts name it; empty where there is none. */
      readonly providerMessageIds: readonly string[];
      /** True where acceptance is delivery: the recipient's own MX took the email. */
      readonly delivered?: boolean;
      /** False where the provider will say nothing more of it: then no receipt is missed. */
      readonly expectsReceipt?: false;
    }
  /**
   * Try later: SMTP 4yz, ESME_RTHROTTLED, a lost session. `isOwnPace`: it keeps to a rate we set, and waits its turn.
   * `mayHaveLeft`: this try put it off, and one before it was never heard of again.
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
  /** It left us, and no answer came. */
  | { readonly kind: "unconfirmed"; readonly error: MessageError };

export interface SendOutcome {
  /** Aligned with the message's parts. `undefined`: the part was settled already and was not sent again. */
  readonly parts: readonly (PartOutcome | undefined)[];
  /** False when the attempt shall not use up the retry budget: throttled, or it never reached the wire. */
  readonly countsAsAttempt: boolean;
  /** For the timeline, for example `{ encoding: "gsm7", segments: 2 }`. */
  readonly detail?: Readonly<Record<string, string | number | boolean>>;
}

/** One part of one message: a segment or a recipient, by its index. */
export interface PartRef {
  readonly messageId: string;
  readonly part: number;
}

/** A later word from the provider about one part it took before: SMPP delivery receipt, DSN, callback. */
export interface Receipt {
  readonly connectorId: string;
  /**
   * One of the `providerMessageIds` of the part it is about, exactly: the channel has undone what the provider
   * changed. Where there is a `target`, only told, and empty if the provider gave none.
   */
  readonly providerMessageId: string;
  /** Names the part itself, so that no id is looked up. Without `part` the `recipient` says which one it is. */
  readonly target?: Omit<PartRef, "part"> & { readonly part?: number };
  /** Whom the message went to, as the provider wrote it. */
  readonly recipient?: string;
  /** The `partReference` the part was sent with, where the provider repeats it. */
  readonly reference?: number;
  /** `complained`: the recipient called it unwanted. Moves nothing, and stands on the timeline. */
  readonly status: "sent" | "delivered" | "undelivered" | "expired" | "failed" | "bounced" | "complained";
  /** Email: what the account's suppression list learns of the recipient, in the same transaction. */
  readonly suppress?: Exclude<SuppressionReason, "manual">;
  readonly error?: MessageError;
  /** Unix milliseconds when it reached us. */
  readonly receivedAt: number;
  /** The provider's own words, shortened to 255 characters; no message text. */
  readonly raw?: string;
}
