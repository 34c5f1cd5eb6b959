import type { Store } from "../store.ts";
import type { Vault } from "../vault.ts";
import { createAccept } from "./accept.ts";
import { createAccountBook } from "./account-book.ts";
import { createBacklog } from "./backlog.ts";
import { createBootstrap } from "./bootstrap.ts";
import { createClaim } from "./claim.ts";
import { createContentShelf } from "./content-shelf.ts";
import { createDatabase, type Database } from "./database.ts";
import { type Driver, openDriver } from "./driver.ts";
import { createExpire } from "./expire.ts";
import { createKeyLookup, createMessageLookup } from "./find-message.ts";
import { createIdempotencyKeys } from "./idempotency-keys.ts";
import { createMessageLog } from "./message-log.ts";
import { checkMasterKey, createMeta } from "./meta.ts";
import { migrate } from "./migrate.ts";
import { createProviderIds } from "./provider-ids.ts";
import { createPrune } from "./prune.ts";
import { createPush } from "./push.ts";
import { createQueueBook } from "./queue-book.ts";
import { createRecordReceipts } from "./receipts.ts";
import { createRecordValues } from "./record-values.ts";
import { createRecords } from "./records.ts";
import { createSandboxLedger } from "./sandbox.ts";
import { createSettle } from "./settle.ts";
import { createStage, endDeadLeases } from "./stage.ts";
import { createWebhookSecrets } from "./webhook-secrets.ts";

export interface SqliteOptions {
  /** The database file, or `:memory:`. */
  readonly path: string;
  readonly vault: Vault;
  /** Calls back once per turn of the event loop; writes of a turn share a commit. */
  readonly schedule?: (run: () => void) => void;
  /** For tests and benchmarks: delays a commit by taking its time, or fails it by throwing. */
  readonly faults?: { readonly beforeCommit?: () => void };
}

/** Opens, migrates and checks the database. Throws where another process, version or master key stands in the way. */
export async function openSqlite(options: SqliteOptions): Promise<Store> {
  const driver = openDriver(options.path);
  try {
    return await openOn(driver, options);
  } catch (error) {
    driver.close();
    throw error;
  }
}

/** The same on a connection that the caller has opened. */
export async function openOn(driver: Driver, options: Omit<SqliteOptions, "path">): Promise<Store> {
  configure(driver);
  migrate(driver);
  const beforeCommit = options.faults?.beforeCommit;
  const db = createDatabase({
    driver,
    schedule: options.schedule ?? setImmediate,
    ...(beforeCommit && { beforeCommit }),
  });
  await checkMasterKey(db, options.vault);
  await endDeadLeases(db);
  return createStore(db, options.vault);
}

/** A 202 is on disk: FULL syncs the log at every commit. */
function configure(driver: Driver): void {
  for (const pragma of [
    "busy_timeout = 2000",
    "journal_mode = WAL",
    "synchronous = FULL",
    "foreign_keys = ON",
    "cache_size = -65536",
    "temp_store = MEMORY",
    "wal_autocheckpoint = 4000",
    "journal_size_limit = 67108864",
  ]) {
    driver.exec(`PRAGMA ${pragma}`);
  }
}

function createStore(db: Database, vault: Vault): Store {
  const meta = createMeta(db);
  const accounts = createAccountBook(db);
  const queues = createQueueBook(db);
  const keys = createIdempotencyKeys(db);
  const messages = createMessageLog(db);
  const contents = createContentShelf(db);
  const providerIds = createProviderIds(db, messages);
  const records = {
    accounts,
    meta,
    values: createRecordValues(vault),
    webhookSecrets: createWebhookSecrets(db, vault),
  };
  const ping = db.prepare("SELECT 1");
  return {
    intake: {
      accept: createAccept(db, { accounts, queues, keys }),
      savedAnswer: (idempotency) => db.read(() => keys.find(idempotency)),
      ...createMessageLookup(db, accounts),
      findKeyOwner: createKeyLookup(db, accounts),
    },
    queue: {
      ...createClaim(db, { accounts, contents, messages, queues }),
      settle: createSettle(db, { messages, contents, providerIds }),
      recordReceipts: createRecordReceipts(db, providerIds),
      onReady: queues.onReady,
    },
    push: createPush(db, keys),
    records: createRecords(db, records),
    sandbox: createSandboxLedger(db),
    upkeep: {
      ...createStage(db, { messages, queues }),
      expire: createExpire(db, { accounts, contents, messages }),
      ...createPrune(db, { contents, keys }),
      ...createBacklog(db, queues),
    },
    bootstrap: createBootstrap(db, records),
    adminTokenDigest: () => db.read(meta.adminTokenDigest),
    ping: () => db.read(() => void ping.get()),
    close: db.close,
  };
}
