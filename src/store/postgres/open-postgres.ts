import type { Lane } from "../../core/webhook-outbox.ts";
import { EARLIER_KEYS, openEarlierKeys } from "../earlier-keys.ts";
import type { Store, UpkeepStore } from "../store.ts";
import type { Vault } from "../vault.ts";
import { createAccept } from "./accept.ts";
import { createBacklog } from "./backlog.ts";
import { createBell } from "./bell.ts";
import { createBootstrap } from "./bootstrap.ts";
import { createCancel } from "./cancel.ts";
import { createClaim } from "./claim.ts";
import { createDays, createPrepareDays } from "./days.ts";
import { type DriverOptions, openDriver } from "./driver.ts";
import { createErasedNames } from "./erased-names.ts";
import { createErase, createErasures } from "./erasures.ts";
import { createEventFeed } from "./event-feed.ts";
import { createExpire } from "./expire.ts";
import { createKeyLookup, createMessageLookup } from "./find-message.ts";
import { pruneKeys } from "./idempotency-keys.ts";
import { createInbound } from "./inbound.ts";
import { createLeases } from "./leases.ts";
import { createMailPolicies } from "./mail-policies.ts";
import { createMessageList } from "./message-list.ts";
import { createMessageChanges } from "./message-log.ts";
import { checkMasterKey, readMeta, refuseHalfMoved } from "./meta.ts";
import { isMigrated, migrateAt } from "./migrate.ts";
import { createNumberEvents } from "./number-events.ts";
import { createOutbox } from "./outbox.ts";
import { countParked, pruneParked } from "./parked-receipts.ts";
import { pruneInbound } from "./prune-inbound.ts";
import { createPruneMessages } from "./prune-messages.ts";
import { createPruneReceived } from "./prune-received.ts";
import { createPush } from "./push.ts";
import { createQueueBook } from "./queue-book.ts";
import { createReceiptStore } from "./receipt-store.ts";
import { createRecordReceipts } from "./receipts.ts";
import { createBeginRecording, createRecordEnded } from "./record-brought.ts";
import { createRecords } from "./records.ts";
import { createRelease } from "./release.ts";
import { createSandboxLedger } from "./sandbox.ts";
import { createSettle } from "./settle.ts";
import { createOverLimit } from "./sms-usage.ts";
import { createStage } from "./stage.ts";
import { pruneSuppressions } from "./suppression-rows.ts";
import { createSuppressions } from "./suppressions.ts";
import { type Database, type Doors, openDoors } from "./transactions.ts";
import { underKey } from "./under-key.ts";
import { untilTaken } from "./until-taken.ts";
import { type KeyWatch, watchKey } from "./watch-key.ts";
import { createWipeContents } from "./wipe-contents.ts";

export interface PostgresOptions extends DriverOptions, KeyWatch {
  /** Calls back once per turn of the event loop; accepts of a turn share a commit. */
  readonly schedule?: (run: () => void) => void;
}

/** Opens, migrates and checks the database. Throws where another version or master key stands in the way. */
export async function openPostgres(options: PostgresOptions): Promise<Store> {
  const driver = openDriver(options);
  try {
    if (!(await isMigrated(driver))) await migrateAt(options.url);
    const doors = openDoors(driver, options.clock);
    await refuseHalfMoved(doors.database);
    await checkMasterKey(doors.database, options.vault);
    const store = createStore(doors, options);
    const unwatch = watchKey(doors.database, options);
    const close = () => {
      unwatch();
      return store.close();
    };
    return { ...store, close };
  } catch (error) {
    await driver.close();
    throw error;
  }
}

/** What use cases share. `changes`: a transaction that moves messages, see `MessageLog`. */
function createBooks({ database, within }: Doors, vault: Vault) {
  const bells = { events: createBell<string>(), webhooks: createBell<Lane>() };
  return {
    bells,
    days: createDays(within),
    queues: createQueueBook(within),
    changes: createMessageChanges(database, bells),
    /** For calls that are admitted before they share a commit. */
    changesWithin: createMessageChanges(within, bells),
    erasedNames: createErasedNames(vault),
  };
}

type Books = ReturnType<typeof createBooks>;

function createStore(doors: Doors, { clock, vault, schedule = setImmediate }: PostgresOptions): Store {
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
    leases: createLeases(db),
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
