/** The types that describe a message, which all modules share. Statuses are named exactly as in the public interface. */
import type { SmsCategory } from "../sms/sms-category.ts";
import type { Receipt } from "./outcome.ts";

export const CHANNELS = ["sms", "email"] as const;
export type ChannelName = (typeof CHANNELS)[number];

export const SMS_STATUSES = [
  "queued",
  "scheduled",
  "sending",
  "sent",
  "delivered",
  "failed",
  "undelivered",
  "expired",
] as const;

export type SmsStatus = (typeof SMS_STATUSES)[number];

export const EMAIL_STATUSES = [
  "queued",
  "scheduled",
  "sending",
  "sent",
  "delivered",
  "bounced",
  "failed",
] as const;

export type EmailStatus = (typeof EMAIL_STATUSES)[number];

export type MessageStatus = SmsStatus | EmailStatus;

/** Why something failed. `code` is short and stable (`expired`, `smpp.0x0000000b`); `message` is for people. */
export interface MessageError {
  readonly code: string;
  readonly message: string;
}

/**
 * What is known about one part of a message: a segment of an SMS or a recipient of an email. `pending`: still to be tried.
 * `unconfirmed`: it may have been sent, but no answer came.
 */
export type PartStatus =
  | "pending"
  | "unconfirmed"
  | "sent"
  | "delivered"
  | "undelivered"
  | "expired"
  | "bounced"
  | "failed";

export interface Part {
  readonly status: PartStatus;
  /** Email only: the recipient's address. */
  readonly address?: string;
  /** The connector that took, refused or may have taken the part, and the id that it gave. SMS: the main copy (`copies.ts`). */
  readonly connectorId?: string;
  readonly providerMessageId?: string;
  /** See `PartOutcome`, `sent`. */
  readonly joinedBy?: string;
  /** While `unconfirmed`: the only claim whose attempt may have sent the part; absent if another may have sent it too. */
  readonly claim?: number;
  readonly error?: MessageError;
  /** SMS, while it is `sent`: another copy, which may be delivered instead. */
  readonly other?: Copy;
  /** SMS, while it is `sent`: a late answer said so while an attempt was under way, which may be sending the part again. */
  readonly isTakenMeanwhile?: true;
  /**
   * Email, once it has bounced or failed: it may have been sent all the same, since it came back, or since an attempt before the one that
   * was refused was never confirmed.
   */
  readonly mayHaveLeft?: true;
  /** SMS, until it can be applied: see `early-failure.ts`. */
  readonly early?: EarlyFailure;
}

/** A copy of a part that a connector has, or, without an id, may have. */
export interface Copy {
  readonly connectorId: string;
  readonly providerMessageId?: string;
  /** The next copy. */
  readonly other?: Copy;
}

/** A receipt that came too early: see `early-failure.ts`. */
export interface EarlyFailure
  extends Pick<
    Receipt,
    "connectorId" | "providerMessageId" | "isOwnId" | "status" | "error" | "receivedAt" | "raw"
  > {
  /** Segments and encoding of the message, as far as they are known. */
  readonly size: Readonly<Record<string, string | number>>;
}

/**
 * The half of a message that changes with attempts and receipts. Only the pure functions of this folder and of
 * `core/receipts` make a new progress from an old one.
 */
export interface Progress {
  readonly channel: ChannelName;
  readonly status: MessageStatus;
  /** Empty for an SMS until its first attempt has counted the segments. */
  readonly parts: readonly Part[];
  /** The number of the last public event: `sequence` in webhooks. 0 before the first. */
  readonly sequence: number;
  /** The number of the last timeline entry. 0 before the first. */
  readonly position: number;
  /** The reason for a final state that is not a success. */
  readonly error?: MessageError;
}

export const TIMELINE_KINDS = [
  "status",
  "attempt",
  "receipt",
  "late_receipt",
  "late_answer",
  "lost_settle",
  "interrupted",
  "receipt_overdue",
] as const;

export type TimelineKind = (typeof TIMELINE_KINDS)[number];

/** One entry of a message's history. Entries with a `sequence` are public events, for webhooks and the event feed. */
export interface TimelineEntry {
  readonly position: number;
  /** Unix milliseconds. */
  readonly at: number;
  readonly kind: TimelineKind;
  /** After the entry: that of the `recipient`, if there is one, else that of the message. `received`: of an SMS from a handset. */
  readonly status: MessageStatus | "received";
  readonly sequence?: number;
  /** Public event type, for example `sms.delivered`; present exactly when `sequence` is. */
  readonly eventType?: string;
  readonly recipient?: string;
  readonly error?: MessageError;
  /** Facts for operators: connector, segments, encoding, provider ids, raw receipt status. Never a body. */
  readonly detail?: Readonly<Record<string, string | number | boolean | readonly string[]>>;
}

/** An SMS as it was requested, without the recipient: shared by all messages of one request. */
export interface SmsContent {
  readonly channel: "sms";
  readonly from?: string;
  /** The account's template, whether the request named it by this id or by its DLT id. */
  readonly templateId?: string;
  /** The DLT id of that template where the messages do not use it, for providers that know the template by it. */
  readonly templateDltId?: string;
  readonly dltTemplateId?: string;
  readonly dltEntityId?: string;
  readonly variables?: Readonly<Record<string, string | number>>;
  readonly callbackUrl?: string;
  readonly tags?: readonly string[];
  readonly metadata?: Readonly<Record<string, unknown>>;
  /** The category of its template at acceptance. */
  readonly category?: SmsCategory;
  /** The sender id, entity and template that the registration checks found, as far as they differ from what was given. */
  readonly resolved?: {
    readonly from?: string;
    readonly dltTemplateId?: string;
    readonly dltEntityId?: string;
  };
  /** The template's text at acceptance. It is wiped once no attempt can need it. */
  readonly text?: string;
}

export interface Recipient {
  readonly email: string;
  readonly name?: string;
}

/** An email as it was requested. The `parts` of its message are its recipients, in the order to, cc, bcc. */
export interface EmailContent {
  readonly channel: "email";
  readonly from: Recipient;
  readonly to: readonly Recipient[];
  readonly cc?: readonly Recipient[];
  readonly bcc?: readonly Recipient[];
  readonly subject: string;
  /** The requested time to send, Unix milliseconds, which becomes the Date of the mail; absent: at once. */
  readonly scheduledAt?: number;
  readonly replyTo?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Every recipient gets an unsubscribe link of their own. */
  readonly unsubscribe?: true;
  readonly callbackUrl?: string;
  readonly tags?: readonly string[];
  readonly metadata?: Readonly<Record<string, unknown>>;
  /** Wiped once no attempt can need them. */
  readonly bodyHtml?: string;
  readonly bodyText?: string;
  /** True if the bodies are so large that a claim leaves them out: see `Queue.largeBody`. */
  readonly isBodyApart?: true;
}

export type Content = SmsContent | EmailContent;

/** A message as it is read back from the store. */
export interface StoredMessage {
  readonly id: string;
  readonly accountId: string;
  readonly recipient: string;
  readonly progress: Progress;
  /** Without `text`, `bodyHtml`, `bodyText`, `headers`, `replyTo`. */
  readonly content: Content;
  readonly createdAt: number;
}
