import type { AcceptResult } from "../../core/accept-request.ts";
import type { Store } from "../store.ts";
import type { Vault } from "../vault.ts";
import { createAccept } from "./accept.ts";
import type { AccountBook } from "./account-book.ts";
import { createBacklog } from "./backlog.ts";
import { createBell } from "./bell.ts";
import { createBootstrap } from "./bootstrap.ts";
import { createCancel } from "./cancel.ts";
import { createClaim } from "./claim.ts";
import { createContentShelf } from "./content-shelf.ts";
import type { Database } from "./database.ts";
import { createErase, createErasures } from "./erasures.ts";
import { createEventBook } from "./event-book.ts";
import { createEventFeed } from "./event-feed.ts";
import { createExpire } from "./expire.ts";
import { createKeyLookup, createMessageLookup } from "./find-message.ts";
import { createIdempotencyKeys } from "./idempotency-keys.ts";
import { createInbound } from "./inbound.ts";
import { createMessageList } from "./message-list.ts";
import { createMessageLog } from "./message-log.ts";
import { createMeta } from "./meta.ts";
import { createOptOutBook } from "./opt-outs.ts";
import { createOutbox } from "./outbox.ts";
import { type PackedAccept, packAccept } from "./packed-accept.ts";
import { createProviderIds } from "./provider-ids.ts";
import { createPrune } from "./prune.ts";
import { createPush } from "./push.ts";
import { createQueueBook } from "./queue-book.ts";
import { createReceiptStore } from "./receipt-store.ts";
import { createRecordReceipts } from "./receipts.ts";
import { createRecordValues } from "./record-values.ts";
import { createRecords } from "./records.ts";
import { createRowNumbers, type NumberShare } from "./row-numbers.ts";
import { createSandboxLedger } from "./sandbox.ts";
import { createSettle } from "./settle.ts";
import { createSmsUsage } from "./sms-usage.ts";
import { createStage } from "./stage.ts";
import { createSuppressionBook } from "./suppression-book.ts";
import { createSuppressions } from "./suppressions.ts";
import { createWebhookLog } from "./webhook-log.ts";
import { createWebhookSecrets } from "./webhook-secrets.ts";

/** The use cases of one connection. */
export interface SqliteStore extends Store {
  /** `intake.accept` of a request that was packed elsewhere. */
  acceptPacked(request: PackedAccept): Promise<AcceptResult>;
}

export interface StoreParts {
  readonly vault: Vault;
  readonly accounts: AccountBook;
  /** Absent: this connection is the only one that numbers rows. */
  readonly share?: NumberShare;
}

export function createStore(db: Database, { vault, accounts, share }: StoreParts): SqliteStore {
  const meta = createMeta(db);
  const queues = createQueueBook(db);
  const keys = createIdempotencyKeys(db);
  const events = createEventBook(db, accounts);
  const bell = createBell<string>(db);
  const webhooks = createWebhookLog(db, bell);
  const messages = createMessageLog(db, events, webhooks);
  const contents = createContentShelf(db);
  const suppressions = createSuppressionBook(db, accounts);
  const providerIds = createProviderIds(db, { accounts, contents, messages, suppressions });
  const optOuts = createOptOutBook(db);
  const { inbound, completeInbound } = createInbound(db, { accounts, optOuts, events, webhooks });
  const records = {
    vault,
    accounts,
    optOuts,
    meta,
    values: createRecordValues(vault),
    webhookSecrets: createWebhookSecrets(db, vault),
  };
  const acceptPacked = createAccept(db, {
    accounts,
    queues,
    keys,
    usage: createSmsUsage(db),
    numbers: createRowNumbers(db, share),
  });
  const ping = db.prepare("SELECT 1");
  return {
    acceptPacked,
    intake: {
      accept: (request) => acceptPacked(packAccept(request)),
      savedAnswer: (idempotency) => db.read(() => keys.find(idempotency)),
      ...createMessageLookup(db, accounts),
      findKeyOwner: createKeyLookup(db, accounts),
    },
    messages: {
      list: createMessageList(db, accounts),
      cancel: createCancel(db, { accounts, contents, messages }),
    },
    queue: {
      ...createClaim(db, { accounts, contents, messages, optOuts, queues }),
      settle: createSettle(db, { messages, contents, providerIds, suppressions }),
      recordReceipts: createRecordReceipts(db, providerIds),
      onReady: queues.onReady,
    },
    outbox: createOutbox(db, { accounts, bell, log: webhooks }),
    push: createPush(db, keys),
    records: createRecords(db, records),
    sandbox: createSandboxLedger(db),
    receipts: createReceiptStore(db, { providerIds, messages, contents }),
    suppressions: createSuppressions(db, suppressions),
    inbound,
    feed: createEventFeed(db, { accounts, events }),
    erasures: createErasures(db),
    upkeep: {
      ...createStage(db, { messages, queues }),
      expire: createExpire(db, { accounts, contents, messages, suppressions }),
      ...createPrune(db, { contents, keys }),
      pruneSuppressions: (now, limit) => db.write(() => suppressions.prune(now, limit), limit),
      completeInbound,
      ...createBacklog(db, queues),
      numberEvents: async () => 0,
      erase: createErase(db, { accounts }),
    },
    bootstrap: createBootstrap(db, records),
    adminTokenDigest: () => db.read(meta.adminTokenDigest),
    ping: () => db.read(() => void ping.get()),
    close: db.close,
  };
}
