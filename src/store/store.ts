/**
 * All durable state, behind use cases. Every method that writes is one transaction: it has happened wholly,
 * and durably (fsync), when its promise resolves, and not at all when it rejects. Concurrent calls share
 * commits and never harm each other. Two implementations (`sqlite`, `postgres`) pass `store.contract.ts`.
 *
 * Times are Unix milliseconds and always given by the caller: the store has no clock.
 */
import type {
  Account,
  ApiKey,
  Connector,
  Contact,
  Domain,
  PushApp,
  PushPlatform,
  Route,
  Sender,
  SmsTemplate,
  Suppression,
} from "../core/accounts.ts";
import type {
  ChannelName,
  Content,
  MessageError,
  MessageStatus,
  Part,
  Progress,
  TimelineEntry,
} from "../core/message.ts";
import type { PartOutcome, Receipt } from "../core/outcome.ts";
import type { NextStep } from "../core/progress.ts";

export interface Store {
  readonly intake: Intake;
  readonly queue: Queue;
  readonly push: PushStore;
  readonly records: Records;
  readonly sandbox: SandboxLedger;
  readonly upkeep: UpkeepStore;
  /** Creates the first account and its admin token if, and only if, the database holds no account. True if it did. */
  bootstrap(first: FirstStart): Promise<boolean>;
  /** Hex SHA-256 of the admin token. */
  adminTokenDigest(): Promise<string | undefined>;
  /** Resolves when the database answers; throws `StoreUnavailable` when not. */
  ping(): Promise<void>;
  /** Waits for commits under way, then closes. Later calls throw `StoreUnavailable`. */
  close(): Promise<void>;
}

/** The database cannot take the write (disk full, connection lost, closed). Nothing was stored; the same call may work later. */
export class StoreUnavailable extends Error {
  override readonly name = "StoreUnavailable";
}

// ---------------------------------------------------------------- intake: what the HTTP interface needs

export interface Intake {
  /**
   * Takes a request: content, messages, jobs, idempotency key and saved answer, all or nothing.
   * A key that is taken already (and not expired) stores nothing and returns the first answer.
   */
  accept(request: AcceptRequest): Promise<AcceptResult>;
  /** The answer saved under a key that has not expired. */
  savedAnswer(idempotency: Pick<Idempotency, "scope" | "key" | "now">): Promise<SavedAnswer | undefined>;
  /** The message, if this account has it on this channel. Bodies are not read. */
  findMessage(query: {
    accountId: string;
    channel: ChannelName;
    id: string;
  }): Promise<StoredMessage | undefined>;
  /** Who a key belongs to; unknown and revoked keys are both `undefined`. */
  findKeyOwner(digest: string): Promise<KeyOwner | undefined>;
  /** The message's history in order, `undefined` where `findMessage` says so. */
  timeline(query: {
    accountId: string;
    channel: ChannelName;
    id: string;
  }): Promise<readonly TimelineEntry[] | undefined>;
}

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
  /** Scheduled messages: when the jobs become ready. */
  readonly dueAt?: number;
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
  /** Settings of the account over those of the instance; names as in `core/settings.ts`. Unset ones are absent. */
  readonly settings: Readonly<Record<string, string>>;
}

// ---------------------------------------------------------------- queue: what the delivery engine needs

export interface Queue {
  /**
   * Leases up to `limit` ready jobs of one queue: round-robin over its flows from where the last claim of this
   * queue ended, earliest deadline first within a flow. Their messages become `sending`.
   */
  claim(request: ClaimRequest): Promise<readonly ClaimedJob[]>;
  /**
   * Records what attempts came to, in one transaction: parts, status, timeline, provider ids, parked receipts
   * that now match, the job's end or next time. A settlement whose claim is no longer the latest changes no
   * status (`false` in the answer, at the same index) but keeps provider ids and a timeline entry.
   */
  settle(settlements: readonly Settlement[]): Promise<readonly boolean[]>;
  /** Puts claimed jobs that were never handed over back in line; no attempt, no timeline entry. Stale claims are ignored. */
  release(jobs: readonly { readonly jobId: number; readonly claim: number }[], now: number): Promise<void>;
  /** Stores receipts; resolves when they are durable. Those that match move their message, the others are parked. */
  recordReceipts(receipts: readonly Receipt[]): Promise<readonly ReceiptResult[]>;
  /** Calls `listener` with the queue's name whenever jobs may have become ready. Returns the unsubscriber. */
  onReady(listener: (queue: string) => void): () => void;
}

export interface ClaimRequest {
  readonly queue: string;
  readonly limit: number;
  readonly now: number;
  readonly leaseMs: number;
}

export interface ClaimedJob {
  readonly jobId: number;
  readonly queue: string;
  /** Rises with every claim and fences every later write about the job. */
  readonly claim: number;
  /** Tries that reached the wire so far. */
  readonly attempt: number;
  /** An earlier claim ended without settling: what it was trying may have left us. */
  readonly wasInterrupted: boolean;
  readonly messageId: string;
  readonly accountId: string;
  /** The mode and settings of the account, as of the claim. */
  readonly accountMode: Account["mode"];
  readonly settings: Readonly<Record<string, string>>;
  readonly recipient: string;
  readonly progress: Progress;
  /** Indexes of the parts this job covers; absent: all. */
  readonly parts?: readonly number[];
  readonly content: Content;
  readonly createdAt: number;
  readonly expiresAt: number;
}

/** The judge's verdict on one attempt, ready to be stored. */
export interface Settlement {
  readonly jobId: number;
  readonly claim: number;
  readonly messageId: string;
  readonly at: number;
  /** Absent where nothing was handed to a connector (expired before the wire). */
  readonly connectorId?: string;
  readonly countsAsAttempt: boolean;
  /** By part index, over all parts of the message; `undefined`: not tried now. SMS: its length sets the number of segments. */
  readonly outcomes: readonly (PartOutcome | undefined)[];
  readonly detail?: TimelineEntry["detail"];
  readonly next: NextStep;
  /** Wipe text and bodies once no job of the request is left. */
  readonly keepsContent: boolean;
}

export interface ReceiptResult {
  readonly kind: "applied" | "late" | "parked";
  readonly messageId?: string;
  readonly status?: MessageStatus;
}

// ---------------------------------------------------------------- upkeep

/** Every method does a bounded piece of work and returns how many rows it moved; callers repeat until 0. */
export interface UpkeepStore {
  /** Makes waiting jobs whose time has come ready; `scheduled` messages become `queued`, dead leases are marked interrupted. */
  stage(now: number, limit: number): Promise<number>;
  /** When the next waiting job is due; `undefined` if none waits. */
  nextDueAt(): Promise<number | undefined>;
  /** Ends ready jobs whose window is over: SMS `expired`; email parts `bounced` if the last word was the recipient's server's, else `failed`. */
  expire(now: number, limit: number): Promise<number>;
  /** Wipes bodies of batches whose jobs are all gone (single messages are wiped as they settle). */
  wipeContents(limit: number): Promise<number>;
  /** Deletes messages created before `before` that are final, and any created before `atLatest`, with all that hangs on them. */
  pruneMessages(bounds: { before: number; atLatest: number; limit: number }): Promise<number>;
  pruneIdempotencyKeys(now: number, limit: number): Promise<number>;
  /** Deletes parked receipts and sandbox messages received before `before`. */
  pruneReceived(before: number, limit: number): Promise<number>;
  /** Per queue: jobs ready, jobs waiting (counted up to 100,000), and since when the oldest ready job has been due. */
  backlog(): Promise<readonly QueueBacklog[]>;
  parkedReceipts(): Promise<number>;
}

export interface QueueBacklog {
  readonly queue: string;
  readonly ready: number;
  readonly oldestReadySince?: number;
}

// ---------------------------------------------------------------- push

export interface PushStore {
  /**
   * One registration per (app, device id), else per (app, token); a known one keeps its id and contact and takes
   * the new token and attributes. The token is taken from any other registration of the app.
   */
  register(device: DeviceRegistration, idempotency?: PushIdempotency): Promise<PushAnswer>;
  /** Moves all registrations of the device to the contact and removes the emptied anonymous contact, in one transaction. */
  identify(
    request: IdentifyRequest,
    idempotency?: PushIdempotency,
  ): Promise<PushAnswer | { readonly kind: "contact_not_found" }>;
}

/** The answer is made from the ids inside the transaction and saved with them. */
export type PushIdempotency = Idempotency;

export type PushAnswer =
  | { readonly kind: "done"; readonly answer: Omit<SavedAnswer, "bodyDigest"> }
  | { readonly kind: "replay"; readonly answer: SavedAnswer };

export interface DeviceRegistration {
  /** Used for a new registration; a known one keeps its own. */
  readonly registrationId: string;
  /** Used for a new device's anonymous contact. */
  readonly contactId: string;
  readonly accountId: string;
  readonly appId: string;
  readonly platform: PushPlatform;
  readonly token: string;
  readonly deviceId?: string;
  readonly osVersion?: string;
  readonly appVersion?: string;
  readonly locale?: string;
  readonly timezone?: string;
  readonly now: number;
  /** Makes the answer from what was stored. Pure. */
  readonly answer: (ids: { registrationId: string; contactId: string }) => Omit<SavedAnswer, "bodyDigest">;
}

export interface IdentifyRequest {
  readonly accountId: string;
  readonly deviceId: string;
  /** Both given: the contact id counts, and the external id must match. */
  readonly contactId?: string;
  readonly externalId?: string;
  readonly now: number;
  readonly answer: (contactId: string) => Omit<SavedAnswer, "bodyDigest">;
}

// ---------------------------------------------------------------- records: what operators register

export interface RecordTypes {
  accounts: Account;
  apiKeys: ApiKey;
  smsTemplates: SmsTemplate;
  senders: Sender;
  domains: Domain;
  pushApps: PushApp;
  contacts: Contact;
  connectors: Connector;
  routes: Route;
  suppressions: Suppression;
}

export type RecordKind = keyof RecordTypes;

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
  /** `null` clears an optional field. `undefined` if there is no such record. */
  update<K extends RecordKind>(
    kind: K,
    id: string,
    changes: { readonly [F in keyof RecordTypes[K]]?: RecordTypes[K][F] | null },
  ): Promise<RecordTypes[K] | { readonly conflict: string } | undefined>;
  /** False if there was none; `in_use` while others refer to it. */
  remove(kind: RecordKind, id: string): Promise<boolean | "in_use">;
  /** Those set for the account (`undefined`: the instance), without defaults. */
  settings(accountId: string | undefined): Promise<Readonly<Record<string, string>>>;
  setSetting(accountId: string | undefined, name: string, value: string | undefined): Promise<void>;
  /** Newest first; at most two are valid at a time. */
  webhookSecrets(
    accountId: string,
  ): Promise<readonly { readonly secret: string; readonly createdAt: number }[]>;
  /** Adds a secret and drops all but the newest two. */
  addWebhookSecret(accountId: string, secret: string, now: number): Promise<void>;
  /** Rises with every change to connectors, routes or settings, so that others know when to look again. */
  version(): Promise<number>;
}

export interface FirstStart {
  readonly account: Account;
  readonly apiKey: ApiKey;
  readonly pushApp: PushApp;
  readonly webhookSecret: string;
  readonly adminTokenDigest: string;
  /** Runs inside the transaction, after the rows and before the commit; a throw undoes everything. */
  readonly beforeCommit: () => void | Promise<void>;
}

// ---------------------------------------------------------------- sandbox

/** What the simulator was given, and the receipts it owes. Its memory, so that a crash forgets neither. */
export interface SandboxLedger {
  record(entries: readonly SandboxEntry[]): Promise<void>;
  list(query: SandboxQuery): Promise<readonly SandboxEntry[]>;
  /** Entries whose receipt is due and has not been recorded. `recordReceipts` clears them in its own transaction. */
  dueReceipts(now: number, limit: number): Promise<readonly SandboxEntry[]>;
  nextReceiptAt(): Promise<number | undefined>;
}

export interface SandboxEntry {
  /** UUIDv7; also the provider message id. */
  readonly id: string;
  readonly accountId: string;
  readonly messageId: string;
  readonly channel: ChannelName;
  /** Number or address. */
  readonly to: string;
  readonly receivedAt: number;
  /** Rendered message, shaped by the simulator, snake_case: text, segments, encoding … or subject, bodies, headers, source. */
  readonly rendered: Readonly<Record<string, unknown>>;
  readonly receipt?: {
    readonly at: number;
    readonly status: Receipt["status"];
    readonly error?: MessageError;
  };
}

export interface SandboxQuery {
  readonly accountId?: string;
  readonly messageId?: string;
  readonly channel?: ChannelName;
  readonly to?: string;
  readonly after?: string;
  readonly limit: number;
}
