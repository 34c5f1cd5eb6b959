import type { Receipt } from "../../../core/messages/outcome.ts";
import { settles } from "../../../core/messages/progress.ts";
import { foldId, inOtherRadix } from "../../../core/receipts/provider-id.ts";
import { isUuid } from "../../../core/uuid.ts";
import { keysOfIds } from "../../receipts/parked-keys.ts";
import { createProviderIds, type ProviderIds } from "../../receipts/provider-ids.ts";
import type { KnownIds, SizeOf } from "../../receipts/receipt-state.ts";
import { LOCKS } from "../database/lock-numbers.ts";
import { lockNames } from "../database/name-locks.ts";
import type { Transaction } from "../database/transactions.ts";
import type { ErasedNames } from "../erasures/erased-names.ts";
import { endWaiting } from "../messages/ending.ts";
import type { LockedMessage, MessageLog } from "../messages/message-log.ts";
import { createSuppressionList, type SuppressionList } from "../suppressions/suppression-list.ts";
import { type IdKey, loadKnownIds, nameOfKey } from "./known-ids.ts";
import { loadParked, type ParkedQuestions } from "./parked-receipts.ts";
import { readSentAgain } from "./sent-again.ts";
import { readSizes } from "./sms-sizes.ts";
import { loadUnconfirmed, type Reference } from "./unconfirmed-parts.ts";
import { readWasHandedTo } from "./was-handed-to.ts";

/** What a transaction is about to record: receipts, or ids and references that parked receipts may be about. */
export interface ReceiptSubjects {
  readonly receipts?: readonly Receipt[];
  readonly ids?: readonly GivenIds[];
  /** References of parts that were not answered, with their messages. */
  readonly references?: readonly (ParkedQuestions["references"][number] & { readonly messageId: string })[];
  /** Ids of messages that a late answer is about. */
  readonly answered?: readonly string[];
}

/** The ids that a provider gave to a part that it took. */
interface GivenIds {
  readonly connectorId: string;
  readonly ids: readonly string[];
}

/** Everything that the rules may look at has been read. They can run once the messages are locked. */
export interface BegunReceipts {
  /** The caller locks these, together with its own, before `open`. */
  readonly messageIds: readonly string[];
  open(log: MessageLog, recorded?: RecordedAttempts): Promise<OpenReceipts>;
}

/** What is known of the attempts that this transaction records. */
interface RecordedAttempts {
  readonly sizes: ReadonlyMap<string, ReturnType<SizeOf>>;
  /** Ids of messages whose attempt had lost its lease. */
  readonly lost: ReadonlySet<string>;
}

const NONE_RECORDED: RecordedAttempts = { sizes: new Map(), lost: new Set() };

export interface OpenReceipts {
  readonly providerIds: ProviderIds;
  readonly suppressions: SuppressionList;
  /** Writes everything but the messages, which the log writes. */
  write(): Promise<void>;
}

/**
 * To be called first in a transaction. A receipt and a settlement that concern the same id run one after the other,
 * because both lock its name: a receipt the name of its own key, a settlement those of every key under which a receipt
 * about its ids may be parked. Settlements share these locks, so they do not wait for each other. The locks, in their order:
 *
 * | Of | Locked |
 * |---|---|
 * | names of ids and references | here |
 * | parked receipts about these | here, in `loadParked` |
 * | jobs of messages that may turn out to be sent | here, in `lockJobs` |
 * | jobs and messages of the settlements, and `messageIds` | by the caller |
 */
export async function beginReceipts(
  session: Transaction,
  { receipts = [], ids = [], references = [], answered = [] }: ReceiptSubjects,
  erasedNames: ErasedNames,
): Promise<BegunReceipts> {
  const keys = ids.flatMap(keysParkedUnder);
  const names = namesOf(receipts, { keys, references });
  lockNames(session, { family: LOCKS.matching, names, isShared: receipts.length === 0 });

  const beside = receipts.filter(({ alsoOf }) => alsoOf).flatMap(keysBeside);
  const parked = await loadParked(session, { keys: [...keys, ...beside], references });
  const toMatch = [...receipts, ...parked.receipts];
  const knownIds = await loadKnownIds(session, distinct(toMatch.flatMap(keysToLookUp)));
  const unconfirmed = await loadUnconfirmed(session, toMatch.flatMap(referenceOf));

  const ownIds = toMatch.filter(({ isOwnId }) => isOwnId).map(({ providerMessageId }) => providerMessageId);
  const perhapsSent = new Set([...unconfirmed.messageIds, ...answered, ...ownIds]);
  await lockJobs(session, perhapsSent);
  const messageIds = [...new Set([...perhapsSent, ...knownIds.messageIds, ...toMatch.flatMap(targetOf)])];

  return {
    messageIds,
    async open(log, { sizes, lost } = NONE_RECORDED) {
      const suppressions = createSuppressionList(session, erasedNames);
      const { messages, settled } = noteSettled(log);
      const asked = [...messageIds, ...lost];
      // Without a receipt no unanswered message turns out to be sent, and its size is not needed.
      const unanswered = toMatch.length > 0 ? references.map(({ messageId }) => messageId) : [];
      const providerIds = createProviderIds<LockedMessage>({
        messages,
        knownIds: knownIds.state,
        parked: parked.state,
        unconfirmed: unconfirmed.state,
        suppressions,
        sizeOf: await readSizes(session, log, { ids: [...messageIds, ...unanswered], sizes }),
        wasHandedTo: await readWasHandedTo(session, log, unrecorded(toMatch, knownIds.state)),
        isSentAgain: await readSentAgain(session, log, { receipts: toMatch, messageIds: asked, answered }),
      });
      const write = async () => {
        await knownIds.write();
        await parked.write();
        await unconfirmed.write();
        await endWaiting(session, log, settled);
        await suppressions.write();
      };
      return { providerIds, suppressions, write };
    },
  };
}

/** The names to lock. A receipt that says which message it is about has none, since it is not matched. */
function namesOf(receipts: readonly Receipt[], { keys, references }: ParkedQuestions): ReadonlySet<string> {
  const given = receipts.filter(({ target }) => !target).flatMap(keysGiven);
  const referring = [...receipts.flatMap(referenceOf), ...references];
  return new Set([
    ...[...given, ...keys].map(nameOfKey),
    ...referring.map(({ reference }) => `reference ${reference}`),
  ]);
}

/** Keys under which receipts about the ids may be parked. */
function keysParkedUnder({ connectorId, ids }: GivenIds): readonly IdKey[] {
  return keysOfIds(ids).map((key) => ({ connectorId, key }));
}

/** Keys under which other receipts about the receipt's part may be parked. */
function keysBeside({ connectorId, providerMessageId: id, otherId = id }: Receipt): readonly IdKey[] {
  return keysParkedUnder({ connectorId, ids: [id, otherId] });
}

/** The keys that the rules look up. Without a number to compare, another form of the id would prove nothing. */
function keysToLookUp(receipt: Receipt): readonly IdKey[] {
  const { connectorId, providerMessageId, recipient, target, alsoOf = [] } = receipt;
  if (target) return [];
  const others = recipient === undefined ? [] : inOtherRadix(providerMessageId);
  const elsewhere = alsoOf.flatMap((connectorId) => keysGiven({ ...receipt, connectorId }));
  return [...keysGiven(receipt), ...elsewhere, ...others.map((key) => ({ connectorId, key }))];
}

/** The keys of the receipt's ids as they were given. */
function keysGiven(receipt: Receipt): readonly IdKey[] {
  const { connectorId, otherId } = receipt;
  const other = otherId === undefined ? [] : [{ connectorId, key: foldId(otherId) }];
  return [keyOfReceipt(receipt), ...other];
}

function keyOfReceipt({ connectorId, providerMessageId }: Receipt): IdKey {
  return { connectorId, key: foldId(providerMessageId) };
}

function distinct(keys: readonly IdKey[]): readonly IdKey[] {
  return [...new Map(keys.map((key) => [nameOfKey(key), key])).values()];
}

function referenceOf({ connectorId, reference, target }: Receipt): Reference[] {
  return reference === undefined || target ? [] : [{ connectorId, reference }];
}

/** The id of the message that the receipt says it is about. A provider may say anything, so only a UUID counts. */
function targetOf({ target }: Receipt): readonly string[] {
  return target && isUuid(target.messageId) ? [target.messageId] : [];
}

/** Locks jobs, so that a retry that is about to be cancelled is not claimed meanwhile. `+ 0`: see `cancel.ts`. */
async function lockJobs(session: Transaction, messageIds: ReadonlySet<string>): Promise<void> {
  if (messageIds.size === 0) return;
  const sql = "SELECT 1 FROM jobs WHERE message_id = ANY($1) ORDER BY id + 0 FOR UPDATE";
  await session.query(sql, [[...messageIds]]);
}

/** Notes which messages receipts and late answers settle, since their jobs have nothing left to do. */
function noteSettled(log: MessageLog) {
  const settled = new Set<string>();
  const save: MessageLog["save"] = (message, step) => {
    log.save(message, step);
    if (settles(message.progress, step)) settled.add(message.id);
  };
  return { messages: { find: log.find, save }, settled };
}

/** Message ids in receipts that name them by our id, from connectors that are not known to have taken the message. */
function unrecorded(receipts: readonly Receipt[], knownIds: KnownIds): readonly string[] {
  const own = receipts.filter(({ isOwnId }) => isOwnId);
  const isKnown = ({ connectorId, key }: IdKey) => knownIds.find(connectorId, key).length > 0;
  return [...new Set(own.flatMap((each) => (isKnown(keyOfReceipt(each)) ? [] : [each.providerMessageId])))];
}
