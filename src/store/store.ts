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
import type { Account, ApiKey, PushApp } from "../core/records/accounts.ts";
import type { Erasures } from "./erasures/erasures.ts";
import type { EventFeed } from "./events/event-feed.ts";
import type { InboundStore } from "./inbound/inbound.ts";
import type { Intake } from "./intake/intake.ts";
import type { MailPolicyStore } from "./mail-policies.ts";
import type { MessageStore } from "./messages/message-store.ts";
import type { PushStore } from "./push/push-store.ts";
import type { LeaseStore } from "./queue/leases.ts";
import type { Queue } from "./queue/queue.ts";
import type { ReceiptStore } from "./receipts/receipts.ts";
import type { Records } from "./records/records.ts";
import type { Retention } from "./retention.ts";
import type { SandboxLedger } from "./sandbox-ledger.ts";
import type { SuppressionStore } from "./suppressions/suppressions.ts";
import type { Outbox } from "./webhooks/outbox.ts";

export type * from "./erasures/erasures.ts";
export type * from "./events/event-feed.ts";
export type * from "./inbound/inbound.ts";
export type * from "./intake/intake.ts";
export type * from "./mail-policies.ts";
export type * from "./messages/message-store.ts";
export { OutcomeUnknown, StoreUnavailable } from "./outage.ts";
export type * from "./push/push-store.ts";
export type * from "./queue/leases.ts";
export type * from "./queue/queue.ts";
export type * from "./receipts/receipts.ts";
export type * from "./records/records.ts";
export type * from "./retention.ts";
export type * from "./sandbox-ledger.ts";
export type * from "./suppressions/suppressions.ts";
export { STORE_RETRY_MS, untilStored } from "./until-stored.ts";
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
  /** Hex SHA-256 of the console's password; `undefined` where there is none yet. */
  consolePasswordDigest(): Promise<string | undefined>;
  setConsolePasswordDigest(digest: string): Promise<void>;
  /** What all sessions of the console are signed for, beside its password; `undefined` until one is set. */
  consoleRound(): Promise<string | undefined>;
  setConsoleRound(round: string): Promise<void>;
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

export interface FirstStart {
  readonly account: Account;
  readonly apiKey: ApiKey;
  readonly pushApp: PushApp;
  readonly webhookSecret: string;
  readonly adminTokenDigest: string;
  readonly consolePasswordDigest: string;
  /**
   * A file that tells what was made: written inside the transaction, for its owner only, and on disk before the
   * commit. Where it cannot be written nothing is stored.
   */
  readonly announce?: { readonly path: string; readonly text: string };
}
