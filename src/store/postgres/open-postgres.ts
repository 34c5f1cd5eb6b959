import type { Lane } from "../../core/webhooks/webhook-outbox.ts";
import { EARLIER_KEYS, openEarlierKeys } from "../records/earlier-keys.ts";
import type { Store, UpkeepStore } from "../store.ts";
import type { Vault } from "../vault.ts";
import { createBell } from "./database/bell.ts";
import { type DriverOptions, openDriver } from "./database/driver.ts";
import { checkMasterKey, readMeta, refuseHalfMoved } from "./database/meta.ts";
import { type Database, type Doors, openDoors } from "./database/transactions.ts";
import { createErasedNames } from "./erasures/erased-names.ts";
import { createErase, createErasures } from "./erasures/erasures.ts";
import { createEventFeed } from "./events/event-feed.ts";
import { createNumberEvents } from "./events/number-events.ts";
import { createInbound } from "./inbound/inbound.ts";
import { pruneInbound } from "./inbound/prune-inbound.ts";
import { createAccept } from "./intake/accept.ts";
import { pruneKeys } from "./intake/idempotency-keys.ts";
import { createOverLimit } from "./intake/sms-usage.ts";
import { untilTaken } from "./intake/until-taken.ts";
import { createMailPolicies } from "./mail-policies.ts";
import { createCancel } from "./messages/cancel.ts";
import { createKeyLookup, createMessageLookup } from "./messages/find-message.ts";
import { createMessageList } from "./messages/message-list.ts";
import { createMessageChanges } from "./messages/message-log.ts";
import { createWipeContents } from "./messages/wipe-contents.ts";
import { isMigrated, migrateAt } from "./migrate.ts";
import { createPush } from "./push/push.ts";
import { createBacklog } from "./queue/backlog.ts";
import { createClaim } from "./queue/claim.ts";
import { createExpire } from "./queue/expire.ts";
import { createLeases } from "./queue/leases.ts";
import { createQueueBook } from "./queue/queue-book.ts";
import { createRelease } from "./queue/release.ts";
import { createSettle } from "./queue/settle.ts";
import { createStage } from "./queue/stage.ts";
import { createBeginRecording, createRecordEnded } from "./receipts/begin-recording.ts";
import { countParked, pruneParked } from "./receipts/parked-receipts.ts";
import { createReceiptStore } from "./receipts/receipt-store.ts";
import { createRecordReceipts } from "./receipts/receipts.ts";
import { createBootstrap } from "./records/bootstrap.ts";
import { createRecords } from "./records/records.ts";
import { underKey } from "./records/under-key.ts";
import { type KeyWatch, watchKey } from "./records/watch-key.ts";
import { createDays, createPrepareDays } from "./retention/days.ts";
import { createPruneMessages } from "./retention/prune-messages.ts";
import { createPruneReceived } from "./retention/prune-received.ts";
import { createSandboxLedger } from "./sandbox.ts";
import { pruneSuppressions } from "./suppressions/suppression-rows.ts";
import { createSuppressions } from "./suppressions/suppressions.ts";
import { createOutbox } from "./webhooks/outbox.ts";

export interface PostgresOptions extends DriverOptions, KeyWatch {
  /** Calls back once per turn of the event loop; accepts of a turn share a commit. */
  readonly schedule?: (run: () => void) => void;
}

/** Opens, migrates and checks the database. Throws where another version or master key stands in the way. */
export async function openPostgres(options: PostgresOptions): Promise<Store> {
  const driver = openDriver(options);
  // A connection for signs of life only: a process whose other connections are all busy must not be taken for dead.
  const pulse = openDriver({ ...options, connections: 1 });
  try {
    if (!(await isMigrated(driver))) await migrateAt(options.url);
    const doors = openDoors(driver, options.clock);
    const pulseDoors = openDoors(pulse, options.clock);
    await refuseHalfMoved(doors.database);
    await checkMasterKey(doors.database, options.vault);
    const store = createStore(doors, options);
    const unwatch = watchKey(doors.database, options);
    return {
      ...store,
      leases: createLeases(pulseDoors.database),
      async close() {
        unwatch();
        await store.close();
        await pulseDoors.close();
      },
    };
  } catch (error) {
    await Promise.all([driver.close(), pulse.close()]);
    throw error;
  }
}

/** What use cases share. `changes` runs a transaction that changes messages, see `MessageLog`. */
function createBooks({ database, within }: Doors, vault: Vault) {
  const bells = { events: createBell<string>(), webhooks: createBell<Lane>() };
  return {
    bells,
    days: createDays(within),
    queues: createQueueBook(within),
    changes: createMessageChanges(database, bells),
    /** For calls that were admitted before they joined a group; see `Doors`. */
    changesWithin: createMessageChanges(within, bells),
    erasedNames: createErasedNames(vault),
  };
}

type Books = ReturnType<typeof createBooks>;

type WithoutLeases = Omit<Store, "leases">;

function createStore(
  doors: Doors,
  { clock, vault, schedule = setImmediate }: PostgresOptions,
): WithoutLeases {
  const { database: db, within } = doors;
  const books = createBooks(doors, vault);
  const { bells, days, queues, erasedNames } = books;
  const { accept, acceptAlone, savedAnswer } = createAccept(within, { clock, days, queues, schedule });
  const { inbound, completeInbound } = createInbound(doors, {
    bell: bells.webhooks,
    erasedNames,
    schedule,
  });
  return {
    intake: {
      accept: untilTaken({
        clock,
        first: (request) => doors.admit(() => accept(request)),
        again: (request) => doors.admit(() => acceptAlone(request)),
      }),
      savedAnswer: (key) => doors.admit(() => savedAnswer(key)),
      overLimit: createOverLimit(db),
      ...createMessageLookup(db),
      findKeyOwner: createKeyLookup(db),
    },
    messages: { list: createMessageList(db), cancel: createCancel(books.changes) },
    queue: createQueue(doors, books, schedule),
    outbox: createOutbox(doors, { bell: bells.webhooks, schedule }),
    push: createPush(db),
    records: createRecords(underKey(db, vault), vault, erasedNames),
    sandbox: createSandboxLedger(db),
    receipts: createReceiptStore(db, books),
    suppressions: createSuppressions(db, erasedNames),
    mailPolicies: createMailPolicies(db),
    inbound,
    feed: createEventFeed(db, bells.events),
    erasures: createErasures(db),
    upkeep: { ...createUpkeep(db, books), completeInbound },
    bootstrap: createBootstrap(underKey(db, vault), vault),
    earlierKeys: async () => openEarlierKeys(vault, await readMeta(db, EARLIER_KEYS.name)),
    adminTokenDigest: () => readMeta(db, "admin_token_digest"),
    ping: async () => void (await db.query("SELECT 1")),
    close: doors.close,
  };
}

function createUpkeep(db: Database, books: Books): Omit<UpkeepStore, "completeInbound"> {
  const { bells, days, erasedNames } = books;
  return {
    ...createStage(db, books),
    expire: createExpire({ ...books, recorders: [createRecordEnded(erasedNames)] }),
    backlog: createBacklog(db),
    wipeContents: createWipeContents(db),
    parkedReceipts: () => countParked(db),
    pruneSuppressions: (now, limit) => db.transaction((session) => pruneSuppressions(session, now, limit)),
    pruneIdempotencyKeys: (now, limit) => pruneKeys(db, now, limit),
    erase: createErase(db, books),
    prepareDays: createPrepareDays(days),
    pruneMessages: createPruneMessages(db, { days }),
    pruneReceived: createPruneReceived(db, [pruneParked, pruneInbound]),
    numberEvents: createNumberEvents(db, { days, bell: bells.events }),
  };
}

/** Settlements share commits, as accepts do, and receipts likewise. */
function createQueue(
  doors: Doors,
  { changes, changesWithin, queues, erasedNames }: Books,
  schedule: NonNullable<PostgresOptions["schedule"]>,
): Store["queue"] {
  const beginRecording = createBeginRecording(erasedNames);
  const settle = createSettle({ changes: changesWithin, beginRecording, schedule });
  const recordReceipts = createRecordReceipts({ changes: changesWithin, erasedNames, schedule });
  return {
    claim: createClaim(doors.database, erasedNames),
    release: createRelease(changes, queues),
    settle: (settlements) => doors.admit(() => settle(settlements)),
    recordReceipts: (receipts) => doors.admit(() => recordReceipts(receipts)),
    onReady: queues.onReady,
  };
}
