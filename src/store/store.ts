/**
 * All durable state, as use cases. Both engines (`sqlite`, `postgres`) pass `store.contract.ts`, as a third would have to.
 * Unless its own comment says otherwise, the following holds for every method:
 *
 * - A method that writes is one transaction. When its promise resolves, everything it wrote is on disk (fsync); when it
 *   rejects, nothing is stored, except perhaps after `OutcomeUnknown`. Concurrent calls may share a commit, but no call fails
 *   because of another.
 * - A method that reads sees every write that this store has answered.
 * - A method that records an array of things returns one result for each, in the same order.
 * - A method that takes a `limit` and returns a number is a piece of upkeep. It does about that much work, in one transaction
 *   or more, and returns how much it did. Callers repeat it until it returns 0; several processes may do so at once.
 * - Listeners (`onReady`, `onEvents`) are called after the commit. They may be called without need, and may not hear of what
 *   another process commits, so a caller that must not miss anything also polls. Subscribing returns a function that
 *   unsubscribes.
 * - Times are Unix milliseconds and come from the caller: no method reads a clock.
 * - Any method may reject with `StoreUnavailable`. What takes the first rows of a line (`claim`, `stage`, `expire`) or old rows
 *   (`Retention`) may also reject with `RowPutOff`.
 */
import type { AccessStore } from "./access.ts";
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

export type * from "./access.ts";
export type * from "./erasures/erasures.ts";
export type * from "./events/event-feed.ts";
export type * from "./inbound/inbound.ts";
export type * from "./intake/intake.ts";
export type * from "./mail-policies.ts";
export type * from "./messages/message-store.ts";
export { isOutage, OutcomeUnknown, RowPutOff, StoreUnavailable } from "./outage.ts";
export { createPassing } from "./pass-over.ts";
export type * from "./push/push-store.ts";
export type * from "./queue/leases.ts";
export type * from "./queue/queue.ts";
export type * from "./receipts/receipts.ts";
export type * from "./records/records.ts";
export type * from "./retention.ts";
export type * from "./sandbox-ledger.ts";
export type * from "./suppressions/suppressions.ts";
export { createUnstored, type Unstored } from "./unstored.ts";
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
  readonly access: AccessStore;
  /** What is kept of earlier master keys after a rotation, newest first. */
  earlierKeys(): Promise<readonly string[]>;
  /**
   * Resolves when the database answers: with the time by its clock (Unix milliseconds) if it may run on another machine, else
   * with `undefined`. Rejects with `StoreUnavailable` if it does not answer.
   */
  ping(): Promise<number | undefined>;
  /** Waits for commits under way, then closes. Calls after that reject with `StoreUnavailable`. */
  close(): Promise<void>;
}
