/** What the HTTP interface hands to the store, and what it gets back. Times are Unix milliseconds. */
import type { Account } from "../records/accounts.ts";
import type { Content, Part, Progress } from "./message.ts";
import type { LimitedRequest, LimitRefusal } from "./sending-limits.ts";

export interface Idempotency {
  /** What the key is unique within: API key and operation (push: account, operation and body digest). */
  readonly scope: string;
  readonly key: string;
  /** Hex SHA-256 of the request body. */
  readonly bodyDigest: string;
  readonly now: number;
  /** The key is new again from then on. */
  readonly expiresAt: number;
}

export interface SavedAnswer {
  readonly status: number;
  /** Replayed byte for byte. */
  readonly body: string;
  readonly bodyDigest: string;
}

export interface AcceptRequest {
  readonly accountId: string;
  /** Singles never wait behind batches: the two are different flows of the account. */
  readonly flow: "single" | "batch";
  readonly content: Content;
  /** At least one; ids are UUIDv7, ascending, and carry the creation time. Content is stored under the first one's id. */
  readonly messages: readonly NewMessage[];
  /** SMS of an account with limits: judged, and counted, in the same transaction. */
  readonly limited?: LimitedRequest;
  /** With the answer to save. */
  readonly idempotency?: Idempotency & { readonly answer: Omit<SavedAnswer, "bodyDigest"> };
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
  /** Where they are not ready at once: when the jobs become ready. */
  readonly dueAt?: number;
  /** Why they wait longer than was asked for: the first entry of the timeline, with the status and at its creation. */
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
  /** Nothing of it was taken, and nothing counted. */
  | { readonly kind: "over_limit"; readonly refusal: LimitRefusal }
  /** Another process has held the key for too long (never on SQLite). */
  | { readonly kind: "in_progress" };

export interface StoredMessage {
  readonly id: string;
  readonly accountId: string;
  readonly recipient: string;
  readonly progress: Progress;
  /** Without `text`, `bodyHtml`, `bodyText`, `headers`, `replyTo`. */
  readonly content: Content;
  readonly createdAt: number;
  readonly expiresAt: number;
}

export interface KeyOwner {
  readonly keyId: string;
  readonly account: Account;
  /** Settings of the account over those of the instance; names of `core/records/settings.ts`. Unset ones are absent. */
  readonly settings: Readonly<Record<string, string>>;
}
