import type { InboundMessage, InboundPiece } from "../../../core/inbound/inbound.ts";
import { senderIdsOf } from "../../../core/inbound/inbound-address.ts";
import { toReceivedEntry, toReceivedEvent } from "../../../core/webhooks/received-event.ts";
import { hostOf, type Lane } from "../../../core/webhooks/webhook-outbox.ts";
import { createInboundParts, type PartGroup, type WholeMessage } from "../../inbound/inbound-parts.ts";
import { INBOUND_COLUMNS, toInboundRow } from "../../inbound/inbound-rows.ts";
import type { InboundAccount, InboundState, RepeatedMessage } from "../../inbound/take-inbound.ts";
import type { WaitingCount } from "../../inbound/waiting-count.ts";
import type { Session } from "../database/driver.ts";
import type { Transaction } from "../database/transactions.ts";
import type { ErasedNames } from "../erasures/erased-names.ts";
import { addOtherEvents, type NewOtherEvent } from "../events/number-events.ts";
import { readSettings } from "../records/account-settings.ts";
import { collectOptOuts } from "../suppressions/collect-opt-outs.ts";
import { addWebhooks, type NewWebhook } from "../webhooks/webhook-log.ts";
import { loadParts } from "./part-table.ts";

/** What a transaction has to read: everything that the rules may ask about. */
export interface InboundQuestions {
  /** Whole messages, which may be repeats. */
  readonly pieces: readonly InboundPiece[];
  readonly groups: readonly PartGroup[];
  /** When the last of the parts came that may be added; absent: none is. */
  readonly cameAt?: number;
  /** The connector and the number of each message that may be stored, by which its account is found; parts that wait have their own. */
  readonly places: readonly Place[];
}

type Place = Pick<InboundPiece, "connectorId" | "to" | "accountId">;

export interface LoadedInbound {
  readonly state: InboundState;
  /** Writes what the rules have changed; returns the lanes that have webhooks ready with it. */
  write(): Promise<readonly Lane[]>;
}

/** What this process knows from other transactions. */
export interface KnownToProcess {
  readonly erasedNames: ErasedNames;
  readonly waitingCount: WaitingCount;
}

/** Reads with a fixed number of statements, once the locks are taken. Then the rules of `take-inbound.ts` run in memory. */
export async function loadInbound(
  session: Transaction,
  questions: InboundQuestions,
  { erasedNames, waitingCount }: KnownToProcess,
): Promise<LoadedInbound> {
  const { table, places: ofParts, write: writeParts } = await loadParts(session, questions, waitingCount);
  const known = await findRepeats(session, questions.pieces);
  const places: readonly Place[] = [...questions.places, ...ofParts];
  const ownerOf = await findOwners(session, places);
  const ids = places.flatMap((place) => place.accountId ?? ownerOf(place) ?? []);
  const accounts = await findAccounts(session, ids);
  const { optOuts, write: writeOptOuts } = collectOptOuts(erasedNames);
  const messages: NewMessage[] = [];
  const events: NewOtherEvent[] = [];
  const webhooks: NewWebhook[] = [];

  const state: InboundState = {
    parts: createInboundParts(table),
    optOuts,
    repeated(piece) {
      const place = messages.findLastIndex((each) => isSame(each, piece));
      const before = place === -1 ? known.get(piece) : { isBeforeStart: false };
      if (!before) return undefined;
      const isBeforeStart = messages.slice(place + 1).some((each) => isStartOf(each, piece));
      return { isBeforeStart: before.isBeforeStart || isBeforeStart };
    },
    ownerOf,
    accountOf: (id) => accounts.get(id),
    insert: (message, more) => void messages.push({ message, ...more }),
    tell(message, { number: account, account: { id: accountId } }, url) {
      events.push({ account, subjectId: message.id, event: toReceivedEvent(message) });
      const callbackHost = url === undefined ? null : hostOf(url);
      const callback = { id: message.id, account, accountId, callbackHost };
      webhooks.push({ message: callback, entry: toReceivedEntry(message) });
    },
  };
  return {
    state,
    async write() {
      await writeParts();
      await insertMessages(session, messages);
      await writeOptOuts(session);
      await addOtherEvents(session, events);
      return addWebhooks(session, webhooks);
    },
  };
}

async function findAccounts(
  session: Session,
  ids: readonly string[],
): Promise<ReadonlyMap<string, InboundAccount>> {
  if (ids.length === 0) return new Map();
  const rows = await session.query<{ id: string; number: number }>(
    "SELECT id, number FROM accounts WHERE id = ANY($1)",
    [[...new Set(ids)]],
  );
  const settingsOf = await readSettings(session, ids);
  return new Map(rows.map(({ id, number }) => [id, { number, account: { id }, settings: settingsOf(id) }]));
}

interface NewMessage {
  readonly message: InboundMessage;
  readonly key: string;
  readonly webhookUrl: string | undefined;
}

function isSame({ message, key }: NewMessage, piece: InboundPiece): boolean {
  return (
    key === piece.key && message.connectorId === piece.connectorId && message.receivedAt >= piece.sameSince
  );
}

function isStartOf({ message }: NewMessage, { from, to }: InboundPiece): boolean {
  return message.keyword === "start" && message.from === from && message.to === to;
}

async function insertMessages(session: Session, messages: readonly NewMessage[]): Promise<void> {
  if (messages.length === 0) return;
  const rows = messages.map(({ message, key, webhookUrl }) => toInboundRow(message, { key, webhookUrl }));
  const columns = COLUMN_TYPES.map((_, index) => rows.map((row) => row[index] ?? null));
  await session.query(INSERT, columns);
}

/** In the order of `INBOUND_COLUMNS`. */
const COLUMN_TYPES = "uuid text text text text text int text text boolean bigint text text".split(" ");

const INSERT = `INSERT INTO inbound_messages (${INBOUND_COLUMNS})
  SELECT * FROM unnest(${COLUMN_TYPES.map((type, index) => `$${index + 1}::${type}[]`).join(", ")})`;

/** The pieces that are stored already. */
async function findRepeats(
  session: Session,
  pieces: readonly InboundPiece[],
): Promise<ReadonlyMap<InboundPiece | undefined, RepeatedMessage>> {
  if (pieces.length === 0) return new Map();
  const rows = await session.query<{ place: number; is_before_start: boolean }>(REPEATS, [
    pieces.map(({ connectorId }) => connectorId),
    pieces.map(({ key }) => key),
    pieces.map(({ sameSince }) => sameSince),
  ]);
  return new Map(rows.map((row) => [pieces[row.place - 1], { isBeforeStart: row.is_before_start }] as const));
}

/** `OFFSET 0`, like `LIMIT 1`: if the table was empty when statistics were taken, the planner would compare all with all. */
const REPEATS = `SELECT place, EXISTS (SELECT 1 FROM inbound_messages s WHERE s.account_id = m.account_id
      AND s.sender = m.sender AND s.recipient = m.recipient AND s.id > m.id AND s.keyword = 'start' OFFSET 0) AS is_before_start
  FROM unnest($1::text[], $2::text[], $3::bigint[]) WITH ORDINALITY AS t (connector_id, provider_key, since, place), LATERAL (
    SELECT * FROM inbound_messages m WHERE m.connector_id = t.connector_id AND m.provider_key = t.provider_key
      AND m.received_at >= t.since ORDER BY m.received_at DESC, m.id DESC LIMIT 1
  ) AS m`;

/** Finds the accounts that messages belong to, by the connector they came through and the number they went to. */
export async function findOwners(
  session: Session,
  places: readonly Pick<Place, "connectorId" | "to">[],
): Promise<(place: Pick<WholeMessage, "connectorId" | "to">) => string | undefined> {
  const nameOf = ({ connectorId, to }: Pick<Place, "connectorId" | "to">) => `${connectorId} ${to}`;
  const wanted = [...new Map(places.map((place) => [nameOf(place), place])).values()];
  if (wanted.length === 0) return () => undefined;
  const rows = await session.query<OwnerRow>(OWNERS, [
    wanted.map(({ connectorId }) => connectorId),
    wanted.map(({ to }) => to),
    wanted.map(({ to }) => JSON.stringify(senderIdsOf(to))),
  ]);
  const owners = new Map(rows.map(({ place, owner }) => [nameOf(wanted[place - 1] as Place), owner]));
  return (place) => owners.get(nameOf(place)) ?? undefined;
}

interface OwnerRow {
  readonly place: number;
  readonly owner: string | null;
}

/** A sender id that several accounts have does not tell which of them a message is for. */
const OWNERS = `SELECT place, coalesce(
    (SELECT account_id FROM inbound_numbers n WHERE n.connector_id = t.connector_id AND n.number = t.recipient),
    (SELECT account_id FROM inbound_numbers n WHERE n.connector_id IS NULL AND n.number = t.recipient),
    (SELECT min(account_id) FROM senders s
      WHERE s.sender_id = ANY(ARRAY(SELECT jsonb_array_elements_text(t.sender_ids::jsonb)))
      HAVING min(account_id) = max(account_id))) AS owner
  FROM unnest($1::text[], $2::text[], $3::text[]) WITH ORDINALITY AS t (connector_id, recipient, sender_ids, place)`;
