import type { AcceptResult } from "../../core/messages/accept-request.ts";
import { openEarlierKeys } from "../records/earlier-keys.ts";
import { createRecordValues } from "../records/record-values.ts";
import type { Store } from "../store.ts";
import type { Vault } from "../vault.ts";
import { createCommitNotifier } from "./database/commit-notifier.ts";
import type { Database } from "./database/database.ts";
import { readMeta } from "./database/meta.ts";
import { createRowNumbers, type NumberShare } from "./database/row-numbers.ts";
import { createErasedNames } from "./erasures/erased-names.ts";
import { createErasures } from "./erasures/erasures.ts";
import { createEventFeed } from "./events/event-feed.ts";
import { createEventLog } from "./events/event-log.ts";
import { createInbound } from "./inbound/inbound.ts";
import { createAccept } from "./intake/accept.ts";
import { createIdempotencyKeys } from "./intake/idempotency-keys.ts";
import { type PackedAccept, packAccept } from "./intake/packed-accept.ts";
import { createOverLimit, createSmsUsage } from "./intake/sms-usage.ts";
import { createMailPolicies } from "./mail-policies.ts";
import { createCancel } from "./messages/cancel.ts";
import { createContentPieces } from "./messages/content-pieces.ts";
import { createContents } from "./messages/contents.ts";
import { createLargeBody } from "./messages/large-body.ts";
import { createMessageList } from "./messages/message-list.ts";
import { createMessageLog } from "./messages/message-log.ts";
import { createMessageLookup } from "./messages/message-lookup.ts";
import { createPrune } from "./prune.ts";
import { createPush } from "./push/push.ts";
import { createBacklog } from "./queue/backlog.ts";
import { createClaim } from "./queue/claim.ts";
import { createExpire } from "./queue/expire.ts";
import { createLeases } from "./queue/leases.ts";
import { createMove } from "./queue/move.ts";
import { createQueues } from "./queue/queues.ts";
import { createRelease } from "./queue/release.ts";
import { createSettle } from "./queue/settle.ts";
import { createStage } from "./queue/stage.ts";
import { createProviderIds } from "./receipts/provider-ids.ts";
import { createReceiptStore } from "./receipts/receipt-store.ts";
import { createAccess } from "./records/access.ts";
import type { AccountCache } from "./records/account-cache.ts";
import { createRecordRows } from "./records/record-rows.ts";
import { createRecords } from "./records/records.ts";
import { createWebhookSecrets } from "./records/webhook-secrets.ts";
import { createSandboxLedger } from "./sandbox.ts";
import { createOptOuts } from "./suppressions/opt-outs.ts";
import { createSuppressionList } from "./suppressions/suppression-list.ts";
import { createSuppressions } from "./suppressions/suppressions.ts";
import { createOutbox } from "./webhooks/outbox.ts";
import { createWebhookLog } from "./webhooks/webhook-log.ts";

/** All use cases, on one connection. */
export interface SqliteStore extends Store {
  /** `intake.accept` for a request that another thread has packed. */
  acceptPacked(request: PackedAccept): Promise<AcceptResult>;
}

export interface StoreParts {
  readonly vault: Vault;
  readonly accounts: AccountCache;
  /** Absent: this connection is the only one that numbers rows. */
  readonly share?: NumberShare;
  /** The time of day; absent: no request is too late. */
  readonly now?: (() => number) | undefined;
}

export function createStore(db: Database, parts: StoreParts): SqliteStore {
  const shared = createShared(db, parts);
  const { accounts, notifier, keys, records, webhooks } = shared;
  const { now = () => 0 } = parts;
  const acceptPacked = createAccept(db, { ...shared, now });
  const ping = db.prepare("SELECT 1");
  return {
    acceptPacked,
    intake: {
      accept: (request) => acceptPacked(packAccept(request)),
      overLimit: createOverLimit(db, shared),
      // A write, so that it runs after requests that may be taking the key.
      savedAnswer: (idempotency) => db.writeForClient(() => keys.find(idempotency), 1, "last"),
    },
    messages: {
      ...createMessageLookup(db, accounts),
      list: createMessageList(db, accounts),
      cancel: createCancel(db, shared),
    },
    queue: createQueue(db, shared),
    outbox: createOutbox(db, { accounts, notifier, log: webhooks }),
    push: createPush(db, keys),
    records: createRecords(db, records),
    sandbox: createSandboxLedger(db),
    receipts: createReceiptStore(db, shared),
    suppressions: createSuppressions(db, shared),
    mailPolicies: createMailPolicies(db),
    inbound: createInbound(db, shared),
    feed: createEventFeed(db, { ...shared, vault: parts.vault }),
    leases: createLeases(),
    erasures: createErasures(db, shared),
    retention: { ...createPrune(db, shared), prepareDays: async () => 0 },
    access: createAccess(db, records),
    earlierKeys: () => db.read(() => openEarlierKeys(parts.vault, readMeta(db, "earlier_keys"))),
    async ping() {
      await db.read(() => ping.get());
      return undefined;
    },
    close: db.close,
  };
}

function createQueue(db: Database, shared: ReturnType<typeof createShared>): Store["queue"] {
  return {
    claim: createClaim(db, shared),
    release: createRelease(db, shared),
    ...createMove(db, shared),
    settle: createSettle(db, shared),
    largeBody: createLargeBody(db, shared.pieces),
    ...createStage(db, shared),
    expire: createExpire(db, shared),
    backlog: createBacklog(db, shared.queues),
    onReady: shared.queues.onReady,
  };
}

/** What the use cases on one connection share: access to tables, and what is remembered of them. */
function createShared(db: Database, { vault, accounts, share }: StoreParts) {
  const queues = createQueues(db);
  const events = createEventLog(db, accounts);
  const notifier = createCommitNotifier<string>(db);
  const webhooks = createWebhookLog(db, notifier);
  const messages = createMessageLog(db, events, webhooks);
  const contents = createContents(db, messages);
  const erasedNames = createErasedNames(db, vault);
  const suppressions = createSuppressionList(db, { accounts, erasedNames });
  const optOuts = createOptOuts(db, erasedNames);
  const numbers = createRowNumbers(db, share);
  return {
    accounts,
    queues,
    keys: createIdempotencyKeys(db),
    events,
    notifier,
    webhooks,
    messages,
    contents,
    suppressions,
    optOuts,
    erasedNames,
    providerIds: createProviderIds(db, { accounts, contents, messages, suppressions }),
    usage: createSmsUsage(db),
    numbers,
    pieces: createContentPieces(db),
    records: {
      vault,
      accounts,
      optOuts,
      erasedNames,
      queues,
      rows: createRecordRows(db, createRecordValues(vault), numbers),
      webhookSecrets: createWebhookSecrets(db, vault),
    },
  };
}
