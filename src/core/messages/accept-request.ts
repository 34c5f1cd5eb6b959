/** The requests that the HTTP interface passes to the store to accept, and its answers. Times are Unix milliseconds. */
import type { Content, Part } from "./message.ts";
import type { LimitedRequest, LimitRefusal } from "./sending-limits.ts";

export interface Idempotency {
  /** What the key is unique within: an API key and operation (push: an account, operation and body digest). */
  readonly scope: string;
  readonly key: string;
  /** Hex SHA-256 of the request body. */
  readonly bodyDigest: string;
  readonly now: number;
  /** From then on the key counts as a new one. */
  readonly expiresAt: number;
}

/** The answer to a request. */
export interface RequestAnswer {
  readonly status: number;
  /** Replayed octet for octet. */
  readonly body: string;
}

/** An answer that is saved under a key. */
export interface SavedAnswer extends RequestAnswer {
  /** Hex SHA-256 of the body of the request that was answered. */
  readonly bodyDigest: string;
}

export interface AcceptRequest {
  readonly accountId: string;
  /** An account has these two flows, so that its single messages never wait behind batches. */
  readonly flow: "single" | "batch";
  readonly content: Content;
  /** At least one. Their ids are UUIDv7, ascending, and carry the creation time. The content is stored under the first id. */
  readonly messages: readonly NewMessage[];
  /** SMS of an account with limits: the limits are checked, and the messages counted, in the same transaction. */
  readonly limited?: LimitedRequest;
  /**
   * Present if the request has an Idempotency-Key. `answer`: the answer to save under it. `acceptBefore`: from then on its body is
   * refused, also where that is a repeat; so by then the key is taken, or the request is not accepted at all.
   */
  readonly idempotency?: Idempotency & { readonly answer: RequestAnswer; readonly acceptBefore?: number };
}

export interface NewMessage {
  readonly id: string;
  /** SMS: the E.164 number. Email: "" (recipients are in the content and in `parts`). */
  readonly recipient: string;
  readonly status: "queued" | "scheduled";
  /** Email: one for each recipient, all `pending`. SMS: empty. */
  readonly parts: readonly Part[];
  /** End of the delivery window. */
  readonly expiresAt: number;
  /** When the jobs become ready; absent: at once. */
  readonly dueAt?: number;
  /** Why the jobs wait longer than the request asked for: the detail of the timeline's first entry. */
  readonly deferral?: Readonly<Record<string, string>>;
  /** SMS: one. Email: one for each queue; one for each recipient if each gets an unsubscribe link of their own. */
  readonly jobs: readonly NewJob[];
}

export interface NewJob {
  /** A route's id, or a sandbox queue. */
  readonly queue: string;
  /** The indexes of the parts that this job covers; absent: all. */
  readonly parts?: readonly number[];
}

export type AcceptResult =
  | { readonly kind: "accepted" }
  | { readonly kind: "replay"; readonly answer: SavedAnswer }
  /** A sending limit would be exceeded. Nothing was accepted, and nothing counted. */
  | { readonly kind: "over_limit"; readonly refusal: LimitRefusal }
  /** The account has been deleted. Nothing was accepted. */
  | { readonly kind: "no_account" }
  /** Another process has been working on a request with the key for too long. Never on SQLite. */
  | { readonly kind: "in_progress" }
  /** `acceptBefore` had passed when the key could be taken. Nothing was accepted. */
  | { readonly kind: "too_late" };
