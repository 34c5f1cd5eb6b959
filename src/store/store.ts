/**
 * All durable state, behind use cases. Every method that writes is one transaction: it has happened wholly,
 * and durably (fsync), when its promise resolves, and not at all when it rejects. Concurrent calls share
 * commits and never harm each other. Two implementations (`sqlite`, `postgres`) pass `store.contract.ts`.
 *
 * Times are Unix milliseconds and always given by the caller: the store has no clock.
 */
import type {
  AcceptRequest,
  AcceptResult,
  Idempotency,
  KeyOwner,
  SavedAnswer,
  StoredMessage,
} from "../core/messages/accept-request.ts";
import type { ChannelName, EmailContent, TimelineEntry } from "../core/messages/message.ts";
import type { Receipt } from "../core/messages/outcome.ts";
import type { SandboxEntry, SandboxQuery } from "../core/messages/sandbox-entry.ts";
import type { LimitedRequest, LimitRefusal } from "../core/messages/sending-limits.ts";
import type {
  DeviceRegistration,
  IdentifyRequest,
  PushAnswer,
  PushIdempotency,
} from "../core/push/push-registration.ts";
import type { ClaimedJob, ClaimRequest, ReceiptResult, Settlement } from "../core/queue/claimed-job.ts";
import type { Account, ApiKey, PushApp, RecordKind, RecordTypes } from "../core/records/accounts.ts";
import type { Erasures } from "./erasures/erasures.ts";
import type { EventFeed } from "./event-feed.ts";
import type { InboundStore } from "./inbound/inbound.ts";
import type { MessageDesk } from "./messages/message-desk.ts";
import type { LeaseStore } from "./queue/leases.ts";
import type { ReceiptStore } from "./receipts/receipts.ts";
import type { MailPolicyStore } from "./suppressions/mail-policies.ts";
import type { SuppressionStore } from "./suppressions/suppressions.ts";
import type { Outbox } from "./webhooks/outbox.ts";

export type * from "./erasures/erasures.ts";
export type * from "./event-feed.ts";
export type * from "./inbound/inbound.ts";
export type * from "./messages/message-desk.ts";
export type * from "./queue/leases.ts";
export type * from "./receipts/receipts.ts";
export type * from "./suppressions/mail-policies.ts";
export type * from "./suppressions/suppressions.ts";
export type * from "./webhooks/outbox.ts";

export interface Store {
  readonly intake: Intake;
  readonly messages: MessageDesk;
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
  readonly upkeep: UpkeepStore;
  /** Creates the first account and its admin token if, and only if, the database holds no account. True if it did. */
  bootstrap(first: FirstStart): Promise<boolean>;
  /** Hex SHA-256 of the admin token. */
  adminTokenDigest(): Promise<string | undefined>;
  /** What was kept of master keys that have been rotated away, newest first. */
  earlierKeys(): Promise<readonly string[]>;
  /** Resolves when the database answers; throws `StoreUnavailable` when not. */
  ping(): Promise<void>;
  /** Waits for commits under way, then closes. Later calls throw `StoreUnavailable`. */
  close(): Promise<void>;
}

/** The database cannot take the write (disk full, connection lost, closed). Nothing was stored; the same call may work later. */
export class StoreUnavailable extends Error {
  override readonly name: string = "StoreUnavailable";
}

/**
 * The connection was lost before the commit was answered, and whether it happened could not be found out in time. The
 * same call may be made again: what proves a lease, or carries an idempotency key, is not done twice.
 */
export class OutcomeUnknown extends StoreUnavailable {
  override readonly name = "OutcomeUnknown";
}

// ---------------------------------------------------------------- intake: what the HTTP interface needs

export interface Intake {
  /**
   * Takes a request: content, messages, jobs, idempotency key and saved answer, all or nothing.
   * A key that is taken already (and not expired) stores nothing and returns the first answer.
   */
  accept(request: AcceptRequest): Promise<AcceptResult>;
  /** The limit for which `accept` would not take such a request now, if any. Counts nothing. */
  overLimit(query: {
    accountId: string;
    recipients: readonly string[];
    limited: LimitedRequest;
  }): Promise<LimitRefusal | undefined>;
  /** The answer saved under a key that has not expired; an `accept` with it that is under way in this process is waited for. */
  savedAnswer(idempotency: Pick<Idempotency, "scope" | "key" | "now">): Promise<SavedAnswer | undefined>;
  /** The message, if this account has it on this channel. Bodies are not read. */
  findMessage(query: {
    accountId: string;
    channel: ChannelName;
    id: string;
  }): Promise<StoredMessage | undefined>;
  /** Who a key belongs to; unknown and revoked keys are both `undefined`. */
  findKeyOwner(digest: string): Promise<KeyOwner | undefined>;
  /** The message's history in order, `undefined` where there is none such: of any account and channel, if not named. */
  timeline(query: {
    id: string;
    accountId?: string;
    channel?: ChannelName;
  }): Promise<readonly TimelineEntry[] | undefined>;
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
  /**
   * The texts of an email whose content `isBodyApart`, read so that nobody waits for it; `undefined` where they have
   * been wiped since. Absent where claims hand out all texts.
   */
  largeBody?(messageId: string): Promise<Pick<EmailContent, "bodyText" | "bodyHtml"> | undefined>;
  /** Calls `listener` with the queue's name whenever jobs may have become ready. Returns the unsubscriber. */
  onReady(listener: (queue: string) => void): () => void;
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
  /**
   * Numbers committed events, so that the feed shows them; to be called every 50 ms or so. Always 0 where events are
   * numbered as they are written: with one writer at a time the order of commits is theirs.
   */
  numberEvents(now: number, limit: number): Promise<number>;
  /** Makes ready what messages of this and the next days will need, so that no accept has to; 0 where that is nothing. */
  prepareDays(now: number): Promise<number>;
  /** One stretch of the oldest erasure under way, over about `limit` rows; 0 when there is none, or it has to wait. */
  erase(now: number, limit: number): Promise<number>;
  /** Wipes bodies of batches whose jobs are all gone (single messages are wiped as they settle). */
  wipeContents(limit: number): Promise<number>;
  /**
   * Deletes messages created before `before` that are final, and any created before `atLatest`, with all that hangs on
   * them. An engine may wait until a day (UTC) is over, and with what a day's requests share until the day after is.
   */
  pruneMessages(bounds: { before: number; atLatest: number; limit: number }): Promise<number>;
  pruneIdempotencyKeys(now: number, limit: number): Promise<number>;
  /** Deletes suppressions that have ended, and soft bounces that lie too far back to count. */
  pruneSuppressions(now: number, limit: number): Promise<number>;
  /** Makes messages of what parts there are, where the first came before `before` and others did not. */
  completeInbound(before: number, limit: number): Promise<number>;
  /** Deletes parked receipts, sandbox and inbound messages, their events, and counts of what was sent, of the time before `before`. */
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
  /**
   * A file that tells what was made: written inside the transaction, for its owner only, and on disk before the
   * commit. Where it cannot be written nothing is stored.
   */
  readonly announce?: { readonly path: string; readonly text: string };
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
