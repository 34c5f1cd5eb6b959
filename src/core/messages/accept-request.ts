/** What the HTTP interface hands to the store to accept, and what it gets back. Times are Unix milliseconds. */
import type { Content, Part } from "./message.ts";
import type { LimitedRequest, LimitRefusal } from "./sending-limits.ts";

export interface Idempotency {
  /** Where the key is unique: within an API key and operation (push: account, operation and body digest). */
  readonly scope: string;
  readonly key: string;
  /** Hex SHA-256 of the request body. */
  readonly bodyDigest: string;
  readonly now: number;
  /** From then on the same key is a new one. */
  readonly expiresAt: number;
}

/** What a request is answered with. */
export interface RequestAnswer {
  readonly status: number;
  /** Replayed octet for octet. */
  readonly body: string;
}

/** An answer as it is saved under a key. */
export interface SavedAnswer extends RequestAnswer {
  /** Of the body of the request that was answered. */
  readonly bodyDigest: string;
}

export interface AcceptRequest {
  readonly accountId: string;
  /** Two flows of the account, so that single messages never wait behind batches. */
  readonly flow: "single" | "batch";
  readonly content: Content;
  /** At least one; ids are UUIDv7, ascending, and carry the creation time. Content is stored under the first one's id. */
  readonly messages: readonly NewMessage[];
  /** SMS of an account with limits: these are judged, and the messages counted, in the same transaction. */
  readonly limited?: LimitedRequest;
  /** Present with an Idempotency-Key; with the answer to save under it. */
  readonly idempotency?: Idempotency & { readonly answer: RequestAnswer };
}

export interface NewMessage {
  readonly id: string;
  /** SMS: the E.164 number. Email: "" (recipients are in the content and in `parts`). */
  readonly recipient: string;
  readonly status: "queued" | "scheduled";
  /** Email: one per recipient, `pending` or (suppressed) `failed`. SMS: empty. */
  readonly parts: readonly Part[];
  /** End of the delivery window. */
  readonly expiresAt: number;
  /** When the jobs become ready; absent: at once. */
  readonly dueAt?: number;
  /** Why they wait longer than the request asked for: the detail of the first entry of the timeline. */
  readonly deferral?: Readonly<Record<string, string>>;
  /** One per envelope. */
  readonly jobs: readonly NewJob[];
}

export interface NewJob {
  /** A route's id, or a sandbox queue. */
  readonly queue: string;
  /** Indexes of the parts this job covers; absent: all. */
  readonly parts?: readonly number[];
}

export type AcceptResult =
  | { readonly kind: "accepted" }
  | { readonly kind: "replay"; readonly answer: SavedAnswer }
  /** Nothing was accepted, and nothing counted. */
  | { readonly kind: "over_limit"; readonly refusal: LimitRefusal }
  /** The account has been deleted. Nothing was accepted. */
  | { readonly kind: "no_account" }
  /** Another process has held the key for too long (never on SQLite). */
  | { readonly kind: "in_progress" };
