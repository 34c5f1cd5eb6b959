import type { AcceptResult } from "../../core/accept-request.ts";
import { createRecordValues } from "../record-values.ts";
import type { Store, UpkeepStore } from "../store.ts";
import type { Vault } from "../vault.ts";
import { createAccept } from "./accept.ts";
import type { AccountBook } from "./account-book.ts";
import { createBacklog } from "./backlog.ts";
import { createBell } from "./bell.ts";
import { createBootstrap } from "./bootstrap.ts";
import { createCancel } from "./cancel.ts";
import { createClaim } from "./claim.ts";
import { createContentPieces } from "./content-pieces.ts";
import { createContentShelf } from "./content-shelf.ts";
import type { Database } from "./database.ts";
import { readEarlierKeys } from "./earlier-keys.ts";
import { createErasedNames } from "./erased-names.ts";
import { createErase, createErasures } from "./erasures.ts";
import { createEventBook } from "./event-book.ts";
import { createEventFeed } from "./event-feed.ts";
import { createExpire } from "./expire.ts";
import { createKeyLookup, createMessageLookup } from "./find-message.ts";
import { createIdempotencyKeys } from "./idempotency-keys.ts";
import { createInbound } from "./inbound.ts";
import { createLargeBody } from "./large-body.ts";
import { createLeases } from "./leases.ts";
import { createMailPolicies } from "./mail-policies.ts";
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
import { createRecords } from "./records.ts";
import { createRowNumbers, type NumberShare } from "./row-numbers.ts";
import { createSandboxLedger } from "./sandbox.ts";
import { createSettle } from "./settle.ts";
import { createOverLimit, createSmsUsage } from "./sms-usage.ts";
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
      // In line behind the requests that may be taking the key.
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

/** What use cases share of one connection: tables as transactions see them, and what is remembered of them. */
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
