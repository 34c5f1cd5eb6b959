/**
 * All durable state, as use cases. Both engines (`sqlite`, `postgres`) pass `store.contract.ts`; so would a third. What holds
 * for all methods:
 *
 * - One that writes is one transaction: when its promise resolves, all of it is on disk (fsync); when it rejects, none of it
 *   is stored, unless it rejects with `OutcomeUnknown`. Exceptions say so. Concurrent calls may share a commit, and none fails
 *   because of another.
 * - One that reads sees every write that this store answered before.
 * - One that takes an array of things to record gives one result for each, in the same order.
 * - One that takes a `limit` and returns a number is a piece of upkeep: it does about that much, in one transaction or more,
 *   and returns how much it was. Several processes may do it at once. Callers repeat it until 0.
 * - Listeners (`onReady`, `onEvents`) are called after the commit. They may be called for nothing, and may miss what another
 *   process commits: whoever must not miss anything polls as well. Each of these methods returns a function that unsubscribes.
 * - Times are Unix milliseconds and always given by the caller: no use case reads a clock.
 * - Any method may reject with `StoreUnavailable`.
 */
import type {
  AcceptRequest,
  AcceptResult,
  Idempotency,
  SavedAnswer,
} from "../core/messages/accept-request.ts";
import type { SandboxEntry, SandboxQuery } from "../core/messages/sandbox-entry.ts";
import type { LimitedRequest, LimitRefusal } from "../core/messages/sending-limits.ts";
import type { DeviceRegistration, IdentifyRequest, PushAnswer } from "../core/push/push-registration.ts";
import type { Account, ApiKey, PushApp, RecordKind, RecordTypes } from "../core/records/accounts.ts";
import type { KeyOwner } from "../core/records/api-key.ts";
import type { Erasures } from "./erasures/erasures.ts";
import type { EventFeed } from "./event-feed.ts";
import type { InboundStore } from "./inbound/inbound.ts";
import type { MailPolicyStore } from "./mail-policies.ts";
import type { MessageStore } from "./messages/message-store.ts";
import type { LeaseStore } from "./queue/leases.ts";
import type { Queue } from "./queue/queue.ts";
import type { ReceiptStore } from "./receipts/receipts.ts";
import type { Retention } from "./retention.ts";
import type { SuppressionStore } from "./suppressions/suppressions.ts";
import type { Outbox } from "./webhooks/outbox.ts";

export type * from "./erasures/erasures.ts";
export type * from "./event-feed.ts";
export type * from "./inbound/inbound.ts";
export type * from "./mail-policies.ts";
export type * from "./messages/message-store.ts";
export type * from "./queue/leases.ts";
export type * from "./queue/queue.ts";
export type * from "./receipts/receipts.ts";
export type * from "./retention.ts";
export type * from "./suppressions/suppressions.ts";
export type * from "./webhooks/outbox.ts";

export interface Store {
  readonly intake: Intake;
  readonly messages: MessageStore;
  readonly queue: Queue;
  readonly outbox: Outbox;
  readonly push: PushStore;
  readonly records: Records;
  readonly sandbox: SandboxLedger;
  readonly receipts: ReceiptStore;
  readonly suppressions: SuppressionStore;
  readonly mailPolicies: MailPolicyStore;
  readonly feed: EventFeed;
  readonly erasures: Erasures;
  readonly inbound: InboundStore;
  readonly leases: LeaseStore;
  readonly retention: Retention;
  /** Creates the first account and the admin token, if the database holds no account yet. True if it did. */
  bootstrap(first: FirstStart): Promise<boolean>;
  /** Hex SHA-256 of the admin token; `undefined` before `bootstrap`. */
  adminTokenDigest(): Promise<string | undefined>;
  /** What was kept of master keys that have been rotated away, newest first. */
  earlierKeys(): Promise<readonly string[]>;
  /**
   * Resolves when the database answers, with the time by its clock (Unix milliseconds) where that may be another machine's.
   * Rejects with `StoreUnavailable` when it does not answer.
   */
  ping(): Promise<number | undefined>;
  /** Waits for commits under way, then closes. Later calls reject with `StoreUnavailable`. */
  close(): Promise<void>;
}

/** The database cannot be used (disk full, connection lost, closed). Nothing was stored; the same call may work later. */
export class StoreUnavailable extends Error {
  override readonly name: string = "StoreUnavailable";
}

/**
 * The connection was lost before the commit was answered, and whether it happened could not be found out in time. The
 * same call may be repeated: what carries an idempotency key, or proves a lease, is not done twice.
 */
export class OutcomeUnknown extends StoreUnavailable {
  override readonly name = "OutcomeUnknown";
}

// ---------------------------------------------------------------- intake: accepting requests

export interface Intake {
  /**
   * Stores a request: content, messages, jobs, idempotency key and saved answer, all or nothing. If its key is taken already
   * (and has not expired), nothing is stored and the first answer is returned; an `accept` under way with the same key is
   * waited for. So a request with a key may be repeated.
   */
  accept(request: AcceptRequest): Promise<AcceptResult>;
  /** The sending limit that such a request would exceed now, if any. Counts nothing. */
  overLimit(query: {
    readonly accountId: string;
    readonly recipients: readonly string[];
    readonly limited: LimitedRequest;
  }): Promise<LimitRefusal | undefined>;
  /** The answer saved under a key, unless that has expired. Waits for an `accept` with the same key in this process. */
  savedAnswer(idempotency: Pick<Idempotency, "scope" | "key" | "now">): Promise<SavedAnswer | undefined>;
}

// ---------------------------------------------------------------- push

export interface PushStore {
  /**
   * Adds or updates a device: one registration per (app, device id), else per (app, token). A known one keeps its id
   * and contact and takes the new token and attributes. Any other registration of the app loses the token.
   */
  register(device: DeviceRegistration, idempotency?: Idempotency): Promise<PushAnswer>;
  /** Moves all registrations of the device to the contact, and removes anonymous contacts that are left without one. */
  identify(
    request: IdentifyRequest,
    idempotency?: Idempotency,
  ): Promise<PushAnswer | { readonly kind: "contact_not_found" }>;
}

// ---------------------------------------------------------------- records: what operators register

export interface Records {
  /** `conflict` names the field that is taken, or the parent that does not exist. */
  create<K extends RecordKind>(
    kind: K,
    record: RecordTypes[K],
  ): Promise<"created" | { readonly conflict: string }>;
  /** The record with these values, all of them equal; by id, or by an indexed column. */
  find<K extends RecordKind>(kind: K, where: Partial<RecordTypes[K]>): Promise<RecordTypes[K] | undefined>;
  /** In order of id. */
  list<K extends RecordKind>(
    kind: K,
    where: Partial<RecordTypes[K]>,
    page: { readonly after?: string; readonly limit: number },
  ): Promise<readonly RecordTypes[K][]>;
  /** Changes a record if it still is as it was `read`: the changes may follow from that (ADR 31). */
  update<K extends RecordKind>(kind: K, read: RecordTypes[K], changes: RecordChanges<K>): Promise<Updated<K>>;
  /** False if there was none; `in_use` while others refer to it. */
  remove(kind: RecordKind, id: string): Promise<boolean | "in_use">;
  /** Whose API key it is, by its hex SHA-256, with the account's settings; `undefined` for unknown and for revoked keys. */
  findKeyOwner(digest: string): Promise<KeyOwner | undefined>;
  /** Settings of the account (`undefined`: of the instance), as far as they are set. */
  settings(accountId: string | undefined): Promise<Readonly<Record<string, string>>>;
  /** Sets these settings, and unsets those that are `undefined`; all of them or none. Others stay as they are. */
  setSettings(accountId: string | undefined, values: SettingChanges): Promise<void>;
  /** Newest first; at most two are valid at a time. */
  webhookSecrets(accountId: string): Promise<readonly WebhookSecret[]>;
  /**
   * Adds a secret and drops all but the newest two. Changes nothing, and resolves with false, if `newest` is given and the
   * newest one was not made then: of two that are added at once, the second would drop the one in use.
   */
  addWebhookSecret(accountId: string, secret: WebhookSecret, newest?: number): Promise<boolean>;
  /** Rises with every change to connectors, routes or settings, so that other processes know when to read them again. */
  version(): Promise<number>;
}

export interface WebhookSecret {
  readonly secret: string;
  readonly createdAt: number;
}

/** New values by setting; `undefined` unsets. */
export type SettingChanges = Readonly<Record<string, string | undefined>>;

/** `null` clears an optional field. */
export type RecordChanges<K extends RecordKind> = {
  readonly [F in keyof RecordTypes[K]]?: RecordTypes[K][F] | null;
};

/** The record as it is now. In all other cases nothing was written; `undefined`: there is no such record. */
export type Updated<K extends RecordKind> =
  | RecordTypes[K]
  /** As with `Records.create`. */
  | { readonly conflict: string }
  /** Another change came first, and the record is now as it says. */
  | { readonly overtakenBy: RecordTypes[K] }
  | undefined;

export interface FirstStart {
  readonly account: Account;
  readonly apiKey: ApiKey;
  readonly pushApp: PushApp;
  readonly webhookSecret: string;
  readonly adminTokenDigest: string;
  /**
   * A file that tells what was made: written inside the transaction, for its owner only, and on disk before the
   * commit. Where it cannot be written nothing is stored.
   */
  readonly announce?: { readonly path: string; readonly text: string };
}

// ---------------------------------------------------------------- sandbox

/** Messages the simulator was given, and the receipts it still owes: stored, so that neither is lost in a crash. */
export interface SandboxLedger {
  /** Stores entries with new ids. */
  record(entries: readonly SandboxEntry[]): Promise<void>;
  /** In order of id, which is that of time. */
  list(query: SandboxQuery): Promise<readonly SandboxEntry[]>;
  /** Entries whose receipt is due, the longest due first, until `ReceiptStore.record` has recorded it. */
  dueReceipts(now: number, limit: number): Promise<readonly SandboxEntry[]>;
  /** When the next receipt is due; `undefined` if none is owed. */
  nextReceiptAt(): Promise<number | undefined>;
}
