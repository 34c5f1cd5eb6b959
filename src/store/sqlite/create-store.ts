import type { AcceptResult } from "../../core/messages/accept-request.ts";
import { createRecordValues } from "../records/record-values.ts";
import type { Store, UpkeepStore } from "../store.ts";
import type { Vault } from "../vault.ts";
import { createBell } from "./database/bell.ts";
import type { Database } from "./database/database.ts";
import { createMeta } from "./database/meta.ts";
import { createRowNumbers, type NumberShare } from "./database/row-numbers.ts";
import { createErasedNames } from "./erasures/erased-names.ts";
import { createErase, createErasures } from "./erasures/erasures.ts";
import { createEventBook } from "./events/event-book.ts";
import { createEventFeed } from "./events/event-feed.ts";
import { createInbound } from "./inbound/inbound.ts";
import { createAccept } from "./intake/accept.ts";
import { createIdempotencyKeys } from "./intake/idempotency-keys.ts";
import { type PackedAccept, packAccept } from "./intake/packed-accept.ts";
import { createOverLimit, createSmsUsage } from "./intake/sms-usage.ts";
import { createMailPolicies } from "./mail-policies.ts";
import { createCancel } from "./messages/cancel.ts";
import { createContentPieces } from "./messages/content-pieces.ts";
import { createContentShelf } from "./messages/content-shelf.ts";
import { createKeyLookup, createMessageLookup } from "./messages/find-message.ts";
import { createLargeBody } from "./messages/large-body.ts";
import { createMessageList } from "./messages/message-list.ts";
import { createMessageLog } from "./messages/message-log.ts";
import { createPrune } from "./prune.ts";
import { createPush } from "./push/push.ts";
import { createBacklog } from "./queue/backlog.ts";
import { createClaim } from "./queue/claim.ts";
import { createExpire } from "./queue/expire.ts";
import { createLeases } from "./queue/leases.ts";
import { createQueueBook } from "./queue/queue-book.ts";
import { createSettle } from "./queue/settle.ts";
import { createStage } from "./queue/stage.ts";
import { createProviderIds } from "./receipts/provider-ids.ts";
import { createReceiptStore } from "./receipts/receipt-store.ts";
import { createRecordReceipts } from "./receipts/receipts.ts";
import type { AccountBook } from "./records/account-book.ts";
import { createBootstrap } from "./records/bootstrap.ts";
import { readEarlierKeys } from "./records/earlier-keys.ts";
import { createRecords } from "./records/records.ts";
import { createWebhookSecrets } from "./records/webhook-secrets.ts";
import { createSandboxLedger } from "./sandbox.ts";
import { createOptOutBook } from "./suppressions/opt-outs.ts";
import { createSuppressionBook } from "./suppressions/suppression-book.ts";
import { createSuppressions } from "./suppressions/suppressions.ts";
import { createOutbox } from "./webhooks/outbox.ts";
import { createWebhookLog } from "./webhooks/webhook-log.ts";

/** The use cases on one connection. */
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

export function createStore(db: Database, parts: StoreParts): SqliteStore {
  const books = createBooks(db, parts);
  const { accounts, bell, contents, events, keys, messages, optOuts, providerIds, queues } = books;
  const { records, suppressions, webhooks } = books;
  const { inbound, completeInbound } = createInbound(db, { accounts, optOuts, events, webhooks });
  const acceptPacked = createAccept(db, books);
  const ping = db.prepare("SELECT 1");
  return {
    acceptPacked,
    intake: {
      accept: (request) => acceptPacked(packAccept(request)),
      overLimit: createOverLimit(db, books),
      // A write, so that it runs behind requests that may be taking the key.
      savedAnswer: (idempotency) => db.write(() => keys.find(idempotency), 1, "last"),
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
      largeBody: createLargeBody(db, books.pieces),
      onReady: queues.onReady,
    },
    outbox: createOutbox(db, { accounts, bell, log: webhooks }),
    push: createPush(db, keys),
    records: createRecords(db, records),
    sandbox: createSandboxLedger(db),
    receipts: createReceiptStore(db, { providerIds, messages, contents }),
    suppressions: createSuppressions(db, books),
    mailPolicies: createMailPolicies(db),
    inbound,
    feed: createEventFeed(db, { accounts, events }),
    leases: createLeases(),
    erasures: createErasures(db),
    upkeep: { ...createUpkeep(db, books), completeInbound },
    bootstrap: createBootstrap(db, records),
    adminTokenDigest: () => db.read(records.meta.adminTokenDigest),
    earlierKeys: () => db.read(() => readEarlierKeys(db, parts.vault)),
    ping: () => db.read(() => void ping.get()),
    close: db.close,
  };
}

type Books = ReturnType<typeof createBooks>;

/** What use cases on one connection share: access to tables, and what is remembered of them. */
function createBooks(db: Database, { vault, accounts, share }: StoreParts) {
  const queues = createQueueBook(db);
  const events = createEventBook(db, accounts);
  const bell = createBell<string>(db);
  const webhooks = createWebhookLog(db, bell);
  const messages = createMessageLog(db, events, webhooks);
  const contents = createContentShelf(db, messages);
  const erasedNames = createErasedNames(db, vault);
  const suppressions = createSuppressionBook(db, { accounts, erasedNames });
  const optOuts = createOptOutBook(db, erasedNames);
  return {
    accounts,
    queues,
    keys: createIdempotencyKeys(db),
    events,
    bell,
    webhooks,
    messages,
    contents,
    suppressions,
    optOuts,
    erasedNames,
    providerIds: createProviderIds(db, { accounts, contents, messages, suppressions }),
    usage: createSmsUsage(db),
    numbers: createRowNumbers(db, share),
    pieces: createContentPieces(db),
    records: {
      vault,
      accounts,
      optOuts,
      erasedNames,
      meta: createMeta(db),
      values: createRecordValues(vault),
      webhookSecrets: createWebhookSecrets(db, vault),
    },
  };
}

function createUpkeep(db: Database, books: Books): Omit<UpkeepStore, "completeInbound"> {
  const { suppressions } = books;
  return {
    ...createStage(db, books),
    expire: createExpire(db, books),
    ...createPrune(db, books),
    pruneSuppressions: (now, limit) => db.write(() => suppressions.prune(now, limit), limit),
    ...createBacklog(db, books.queues),
    numberEvents: async () => 0,
    prepareDays: async () => 0,
    erase: createErase(db, books),
  };
}
