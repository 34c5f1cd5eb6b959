import type { Clock } from "../../core/clock.ts";
import type { Lane } from "../../core/webhooks/webhook-outbox.ts";
import { createNotifier } from "../notifier.ts";
import type { OnMigration } from "../on-migration.ts";
import { openEarlierKeys } from "../records/earlier-keys.ts";
import type { Store } from "../store.ts";
import type { Vault } from "../vault.ts";
import { refuseUnfitPooler } from "./connections/behind-pooler.ts";
import { catchUpCounters } from "./database/catch-up-counters.ts";
import { refuseUncheckedReferences } from "./database/checked-references.ts";
import { type Driver, type DriverOptions, openDriver } from "./database/driver.ts";
import { checkMasterKey, readCursorKey, readMeta, refuseHalfMoved, refuseOtherKey } from "./database/meta.ts";
import { createServerWatch, type ServerWatch } from "./database/server-watch.ts";
import { type ClosableDatabase, type Database, openClosable } from "./database/transactions.ts";
import { refusePartSchema } from "./database/whole-schema.ts";
import { createErasedNames } from "./erasures/erased-names.ts";
import { createErasures } from "./erasures/erasures.ts";
import { createEventFeed } from "./events/event-feed.ts";
import { createInbound } from "./inbound/inbound.ts";
import { createPruneInbound } from "./inbound/prune-inbound.ts";
import { createAccept } from "./intake/accept.ts";
import { createPruneKeys } from "./intake/idempotency-keys.ts";
import { createOverLimit } from "./intake/sms-usage.ts";
import { untilAnswered, untilTaken } from "./intake/until-taken.ts";
import { createMailPolicies } from "./mail-policies.ts";
import { createCancel } from "./messages/cancel.ts";
import { createMessageList } from "./messages/message-list.ts";
import { createMessageChanges } from "./messages/message-log.ts";
import { createMessageLookup } from "./messages/message-lookup.ts";
import { createWipeContents } from "./messages/wipe-contents.ts";
import { isMigrated, migrateAt } from "./migrate.ts";
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
import { createReceiptStore } from "./receipts/receipt-store.ts";
import { createAccess } from "./records/access.ts";
import { createRecords } from "./records/records.ts";
import { underKey } from "./records/under-key.ts";
import { type KeyWatch, watchKey } from "./records/watch-key.ts";
import { createDays, createPrepareDays, type Days } from "./retention/days.ts";
import { createPruneMessages } from "./retention/prune-messages.ts";
import { createPruneReceived } from "./retention/prune-received.ts";
import { createSandboxLedger } from "./sandbox.ts";
import { createPruneSuppressions } from "./suppressions/suppression-rows.ts";
import { createSuppressions } from "./suppressions/suppressions.ts";
import { createOutbox } from "./webhooks/outbox.ts";

export type PostgresOptions = DriverOptions &
  KeyWatch & {
    readonly onMigration?: OnMigration | undefined;
    /** For tests: drivers that the caller has opened; see `openOn`. */
    readonly drivers?: StoreDrivers | undefined;
  };

/** A store whose process may come to another server than before; see `ServerWatch.onOther`. */
export type PostgresStore = Store & Pick<ServerWatch, "onOther">;

/** Opens, migrates and checks the database. Throws if it belongs to another version or master key, with which this cannot work. */
export function openPostgres(options: PostgresOptions): Promise<PostgresStore> {
  return openOn(options.drivers ?? openDrivers(options), options);
}

/** As `openPostgres`, on drivers that the caller has opened; they are closed with the store. */
export async function openOn(
  { driver, pulse }: StoreDrivers,
  options: PostgresOptions,
): Promise<PostgresStore> {
  try {
    await refuseUnfitPooler({ driver, pulse }, options.url);
    await refuseUncheckedReferences(driver);
    await migrateOlder(driver, options);
    const servers = createServerWatch();
    const closable = openClosable(driver, options.clock, servers);
    const closablePulse = openClosable(pulse, options.clock, servers);
    await refuseHalfMoved(driver);
    await refusePartSchema(driver);
    await catchUpCounters(driver);
    await checkMasterKey(driver, options.vault);
    // Stored long before the feed is read: a key of the last moments before a failover may be lost in it, with the cursors of readers.
    await readCursorKey(driver, options.vault);
    const store = createStore(closable, options);
    const unwatch = watchKey(closable.database, options);
    return {
      ...store,
      leases: createLeases(closablePulse.database),
      onOther: servers.onOther,
      async close() {
        unwatch();
        await store.close();
        await closablePulse.close();
      },
    };
  } catch (error) {
    await Promise.all([driver.close(), pulse.close()]);
    throw error;
  }
}

/** A database that is refused keeps its schema: processes of an earlier version may be at work on it. */
async function migrateOlder(driver: Driver, { url, vault, onMigration }: PostgresOptions): Promise<void> {
  if (await isMigrated(driver)) return;
  await migrateAt(url, { onMigration, refuse: (session) => refuseOtherKey(session, vault) });
}

export interface StoreDrivers {
  readonly driver: Driver;
  /** A connection for signs of life only: a process whose other connections are all busy must not be taken for dead. */
  readonly pulse: Driver;
}

export function openDrivers(options: DriverOptions): StoreDrivers {
  return { driver: openDriver(options), pulse: openDriver({ ...options, connections: 1 }) };
}

/** What use cases share. `changes` runs a transaction that changes messages, see `MessageLog`. */
function createShared({ database, within }: ClosableDatabase, vault: Vault) {
  const lanes = createNotifier<Lane>();
  return {
    lanes,
    days: createDays(within),
    queues: createQueues(within),
    changes: createMessageChanges(database, lanes),
    /** For calls that were admitted before they joined a group; see `ClosableDatabase`. */
    changesWithin: createMessageChanges(within, lanes),
    erasedNames: createErasedNames(database, vault),
  };
}

type Shared = ReturnType<typeof createShared>;

type WithoutLeases = Omit<Store, "leases">;

function createStore(closable: ClosableDatabase, { clock, vault }: PostgresOptions): WithoutLeases {
  const { database: db, within } = closable;
  const shared = createShared(closable, vault);
  const { lanes, days, queues, erasedNames } = shared;
  const { accept, acceptAlone, savedAnswer } = createAccept(within, { clock, days, queues });
  return {
    intake: {
      accept: untilTaken({
        clock,
        first: (request) => closable.admit(() => accept(request)),
        again: (request) => closable.admit(() => acceptAlone(request)),
      }),
      savedAnswer: untilAnswered(clock, (key) => closable.admit(() => savedAnswer(key))),
      overLimit: createOverLimit(db),
    },
    messages: {
      ...createMessageLookup(db),
      list: createMessageList(db),
      cancel: createCancel(shared.changes),
    },
    queue: createQueue(closable, shared, clock),
    outbox: createOutbox(closable, lanes, clock),
    push: createPush(db, clock),
    records: createRecords(underKey(db, vault), { vault, erasedNames, clock }),
    sandbox: createSandboxLedger(db),
    receipts: createReceiptStore(closable, shared),
    suppressions: createSuppressions(db, erasedNames),
    mailPolicies: createMailPolicies(db),
    inbound: createInbound(closable, { notifier: lanes, erasedNames }),
    feed: createEventFeed(db, { vault, clock, days, notifier: createNotifier() }),
    erasures: createErasures(db, shared),
    retention: createRetention(db, days),
    access: createAccess(db, vault),
    earlierKeys: async () => openEarlierKeys(vault, await readMeta(db, "earlier_keys")),
    ping: async () => (await db.query<{ time: number }>(TIME))[0]?.time,
    close: closable.close,
  };
}

const TIME = "SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint AS time";

function createRetention(db: Database, days: Days): Store["retention"] {
  return {
    prepareDays: createPrepareDays(days),
    wipeContents: createWipeContents(db),
    pruneMessages: createPruneMessages(db, { days }),
    pruneIdempotencyKeys: createPruneKeys(db),
    pruneSuppressions: createPruneSuppressions(db),
    pruneInbound: createPruneInbound(db),
    pruneReceived: createPruneReceived(db),
  };
}

/** Settlements share commits, as accepts do. */
function createQueue(closable: ClosableDatabase, shared: Shared, clock: Clock): Store["queue"] {
  const { database: db } = closable;
  const { changes, changesWithin, queues, erasedNames } = shared;
  const settle = createSettle({ changes: changesWithin, erasedNames });
  const release = createRelease(changes, queues);
  return {
    claim: createClaim(db, { clock, erasedNames, release, queues }),
    release,
    ...createMove(db, queues),
    settle: (settlements) => closable.admit(() => settle(settlements)),
    ...createStage(db, { ...shared, clock }),
    expire: createExpire(db, { ...shared, clock }),
    backlog: createBacklog(db),
    onReady: queues.onReady,
  };
}
