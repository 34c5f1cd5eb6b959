/** What a chaos run knows: what was asked, and what was answered. */
import type { Holding } from "./holding.ts";

/** A request to send, however often it was repeated. */
export interface Request {
  readonly index: number;
  readonly account: Client;
  readonly body: Readonly<Record<string, unknown>>;
  readonly key: string | undefined;
  /** Tries without an answer, or with one after which a client tries again. */
  unanswered: number;
  /** How often it was sent. Without a key each time may have made messages. */
  tries: number;
  /** True if it was answered with 400. */
  isRefused: boolean;
  answer: readonly Accepted[] | undefined;
}

/** One for SMS. */
export interface Asked extends Request {
  readonly account: Account;
  /** By the clock of the processes, in Unix milliseconds. */
  readonly askedAt: number;
  readonly numbers: readonly string[];
  readonly text: string;
  readonly isBatch: boolean;
  /** Of `expire_after_seconds`. */
  readonly windowMs: number | undefined;
}

export interface Accepted {
  readonly message_id: string;
  /** Of an SMS. */
  readonly to?: string;
  readonly status: string;
  readonly created_at: string;
}

/** An account, and what its requests are made with. */
export interface Client {
  readonly name: string;
  readonly accountId: string;
  readonly apiKey: string;
  readonly callbackUrl: string;
}

/** A client that sends SMS. */
export interface Account extends Client {
  /** The setting `on_unconfirmed`, which changes. */
  readonly holding: Holding;
  readonly templateId: string;
  /** The setting `batch_duplicates` is `once`. */
  readonly sendsOnce: boolean;
}

export interface Canceled {
  readonly messageId: string;
  readonly atMs: number;
}

export interface FeedEvent {
  readonly id: string;
  readonly type: string;
  readonly data: {
    readonly message_id: string;
    readonly status: string;
    readonly sequence: number;
    readonly occurred_at: string;
    /** Of an email. */
    readonly recipient?: string;
    readonly error?: { readonly code: string };
  };
}

/** Of a message from a handset, and not of one that was sent. */
export function isReceived({ type }: Pick<FeedEvent, "type">): boolean {
  return type === "sms.received";
}

export interface Model<Asking extends Request = Asked> {
  readonly channel: "sms" | "email";
  readonly asked: Asking[];
  readonly canceled: Canceled[];
  /** Final statuses that a client was told, by message id. */
  readonly toldFinal: Map<string, string>;
  /** Events by account, as its reader got them. */
  readonly feeds: Map<Asking["account"], FeedEvent[]>;
  /** Problems found during the run. */
  readonly problems: string[];
}

/** Of messages. */
export function pathOf({ channel }: Pick<Model, "channel">): string {
  return channel === "sms" ? "/v1/sms/messages" : "/v1/emails/messages";
}

/** A message as the service shows it in the end. */
export interface Shown {
  readonly message_id: string;
  readonly status: string;
  readonly created_at: string;
  readonly metadata?: { readonly request?: number };
}

export interface ShownSms extends Shown {
  readonly to: string;
}

export interface Entry {
  readonly position?: number;
  readonly at: string;
  readonly kind: string;
  readonly status: string;
  /** Of an email. */
  readonly recipient?: string;
  readonly sequence?: number;
  readonly error?: { readonly code: string; readonly message: string };
  readonly detail?: Readonly<Record<string, unknown>>;
}

/** An SMS, or a part of one, as a provider got it, and what became of it there. */
export interface HandOver {
  /** The provider's name. */
  readonly peer: string;
  readonly to: string;
  readonly atMs: number;
  /** When it came, by the clock of the processes. */
  readonly at: number;
  /** What the provider does with it, for reports. */
  readonly fate: string;
  readonly isTaken: boolean;
  /** What of the text it is. */
  readonly text: string;
  /** Of how many such it says to be a part. */
  readonly segments: number;
  /** The provider's id of it; empty if there is none. */
  readonly messageId: string;
  /** What its answer says, if there is one. `nothing`: what may mean either, or no answer in time. */
  readonly says: "taken" | "not now" | "never" | "nothing";
  /** When the answer was written to an open connection. */
  answeredAtMs?: number;
  readonly receipts: readonly PaidReceipt[];
  /** Which part of this message it is, or all of it; `undefined`: it is of another message. */
  partOf(messageId: string): number | "whole" | undefined;
}

/** What a provider told the service later, or still has to tell. */
export interface PaidReceipt {
  readonly says: "sent" | "delivered" | "undelivered" | "expired" | "failed";
  /** When the service acknowledged it. */
  storedAtMs?: number;
  /** How often it was sent until then. */
  tries: number;
}

/** One message, as the client, the service and the providers know it. */
export interface Fate {
  readonly asked: Asked;
  readonly shown: ShownSms;
  readonly timeline: readonly Entry[];
  /** What providers got of it by part, in the order in which they came. */
  readonly parts: ReadonlyMap<number, readonly HandOver[]>;
}

export const FINAL: ReadonlySet<string> = new Set([
  "delivered",
  "undelivered",
  "failed",
  "expired",
  "bounced",
]);
