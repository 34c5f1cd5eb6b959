/** What was asked, and what was answered. */
import type { Submitted } from "./smsc.ts";

/** A request to send, however often it was repeated. */
export interface Asked {
  readonly index: number;
  readonly account: Account;
  readonly numbers: readonly string[];
  readonly isBatch: boolean;
  readonly body: Readonly<Record<string, unknown>>;
  readonly key: string | undefined;
  /** In the window of `expire_after_seconds`. */
  readonly windowMs: number | undefined;
  /** Every try without an answer, or with one that a client repeats. */
  unanswered: number;
  /** A request without a key that was not answered may have made a message each time. */
  tries: number;
  /** It was answered that it is not accepted. */
  isRefused: boolean;
  answer: readonly AcceptedSms[] | undefined;
}

export interface AcceptedSms {
  readonly message_id: string;
  readonly to: string;
  readonly status: string;
  readonly created_at: string;
}

export interface Account {
  readonly name: string;
  readonly accountId: string;
  readonly apiKey: string;
  readonly templateId: string;
  /** Its settings. */
  readonly holds: boolean;
  readonly sendsOnce: boolean;
  readonly callbackUrl: string;
}

export interface Canceled {
  readonly messageId: string;
  readonly atMs: number;
}

export interface FeedEvent {
  readonly id: string;
  readonly type: string;
  readonly data: { readonly message_id: string; readonly status: string; readonly sequence: number };
}

export interface Model {
  readonly asked: Asked[];
  readonly canceled: Canceled[];
  /** Final statuses that somebody was told, by message. */
  readonly toldFinal: Map<string, string>;
  /** By account, as its reader got them. */
  readonly feeds: Map<Account, FeedEvent[]>;
  /** What is wrong already. */
  readonly problems: string[];
}

/** A message as the service shows it in the end. */
export interface Shown {
  readonly message_id: string;
  readonly to: string;
  readonly status: string;
  readonly created_at: string;
  readonly metadata?: { readonly request?: number };
}

export interface Entry {
  readonly position?: number;
  readonly at: string;
  readonly kind: string;
  readonly status: string;
  readonly sequence?: number;
  readonly error?: { readonly code: string; readonly message: string };
  readonly detail?: Readonly<Record<string, unknown>>;
}

/** One message, from both sides. */
export interface Fate {
  readonly asked: Asked;
  readonly shown: Shown;
  readonly timeline: readonly Entry[];
  /** By part, in the order in which they came. */
  readonly parts: ReadonlyMap<number, readonly Submitted[]>;
}

export const FINAL: ReadonlySet<string> = new Set(["delivered", "undelivered", "failed", "expired"]);
