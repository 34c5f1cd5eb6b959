import type { InboundMessage, InboundPiece, InboundQuery, InboundResult } from "../../core/inbound.ts";
import { type KeywordMeaning, optOutSender, readKeyword } from "../../core/opt-out.ts";
import { RECEIVED, RECEIVED_SEQUENCE, toReceivedEvent } from "../../core/received-event.ts";
import { readSetting } from "../../core/settings.ts";
import { firstUuidAt } from "../../core/uuid.ts";
import { hostOf } from "../../core/webhook-outbox.ts";
import type { InboundStore, UpkeepStore } from "../store.ts";
import type { AccountBook } from "./account-book.ts";
import type { Database } from "./database.ts";
import type { SqlValue } from "./driver.ts";
import type { EventBook } from "./event-book.ts";
import { createInboundParts, type InboundParts, type WholeMessage } from "./inbound-parts.ts";
import { INSERT_INBOUND, type InboundRow, toInboundMessage, toInboundRow } from "./inbound-rows.ts";
import type { OptOutBook } from "./opt-outs.ts";
import type { WebhookLog } from "./webhook-log.ts";

export interface InboundStoreParts {
  readonly accounts: AccountBook;
  readonly optOuts: OptOutBook;
  readonly events: EventBook;
  readonly webhooks: WebhookLog;
}

interface Inbound {
  readonly inbound: InboundStore;
  readonly completeInbound: UpkeepStore["completeInbound"];
}

const MAX_COUNTED = 100_000;

export function createInbound(db: Database, parts: InboundStoreParts): Inbound {
  const waiting = createInboundParts(db);
  const keep = createKeeper(db, parts);
  const take = createTake(db, waiting, keep);
  const nobodys = db.prepare<{ count: number }>(
    `SELECT count(*) AS count FROM (SELECT 1 FROM inbound_messages WHERE account_id IS NULL LIMIT ${MAX_COUNTED})`,
  );
  return {
    inbound: {
      receive: (pieces) => db.write(() => pieces.map(take), pieces.length * 3),
      list: (query) => db.read(() => select(db, query).map(toInboundMessage)),
      unassigned: () => db.read(() => nobodys.get()?.count ?? 0),
      optedOut: (query) => db.read(() => parts.optOuts.among(query)),
    },
    completeInbound: (before, limit) =>
      db.write(() => {
        let rows = 0;
        while (rows < limit) {
          const over = waiting.expire(before);
          if (!over) break;
          if (over.message) keep(over.message);
          rows += over.rows;
        }
        return rows;
      }, limit),
  };
}

type Keep = (message: WholeMessage) => InboundResult;

function createTake(db: Database, waiting: InboundParts, keep: Keep): (piece: InboundPiece) => InboundResult {
  const same = db.prepare(
    "SELECT 1 FROM inbound_messages WHERE connector_id = ? AND provider_key = ? AND received_at >= ? LIMIT 1",
  );
  return (piece) => {
    if (!piece.part) {
      const isRepeat = same.get(piece.connectorId, piece.key, piece.sameSince) !== undefined;
      return isRepeat ? { kind: "repeat" } : keep({ ...piece, text: piece.text.toWellFormed() });
    }
    const { kind, messages } = waiting.add(piece, piece.part);
    const kept = messages.map(keep).at(-1);
    return kind === "whole" && kept ? kept : { kind: kind === "repeat" ? "repeat" : "waiting" };
  };
}

/** Stores a whole message as its account's, with its event and what its word asks for. */
function createKeeper(db: Database, { accounts, optOuts, events, webhooks }: InboundStoreParts): Keep {
  const ownerOf = createOwners(db);
  const insert = db.prepare(INSERT_INBOUND);

  const tell = (message: InboundMessage, account: number, url: string | undefined) => {
    const { id: messageId, receivedAt: at } = message;
    events.addOther(account, toReceivedEvent(message));
    if (url === undefined) return;
    const entry = { position: 0, at, kind: "status", status: "received" } as const;
    webhooks.add({ messageId, account, host: hostOf(url) }, [
      { ...entry, sequence: RECEIVED_SEQUENCE, eventType: RECEIVED },
    ]);
  };

  return (whole) => {
    const { key, accountId: given, ...rest } = whole;
    const accountId = given ?? ownerOf(whole);
    const entry = accountId === undefined ? undefined : accounts.byId(accountId);
    const keyword = entry && readKeyword(whole.text, entry.settings);
    const webhookUrl = entry && readSetting(entry.settings, "inbound_url");
    const message = { ...rest, ...(entry && { accountId: entry.account.id }), ...(keyword && { keyword }) };
    insert.run(...toInboundRow(message, { key, webhookUrl }));
    if (!entry) return { kind: "stored" };
    tell(message, entry.number, webhookUrl);
    const sender = optOutSender(whole.to, entry.settings);
    if (keyword) heed(optOuts, keyword, { message: whole, accountId: entry.account.id, sender });
    return { kind: "stored", accountId: entry.account.id, ...(keyword && { keyword }) };
  };
}

interface Wish {
  readonly message: WholeMessage;
  readonly accountId: string;
  readonly sender: string | undefined;
}

function heed(
  optOuts: OptOutBook,
  keyword: KeywordMeaning,
  { message: { id, from, text, receivedAt }, accountId, sender }: Wish,
): void {
  const who = { accountId, sender, recipient: from };
  if (keyword === "start") optOuts.remove(who);
  else optOuts.add({ ...who, id, reason: `wrote ${text.trim().toUpperCase()}`, at: receivedAt });
}

/** Whose number or short code it is. */
function createOwners(db: Database): (message: WholeMessage) => string | undefined {
  const ofConnector = db.prepare<{ account_id: string }>(
    "SELECT account_id FROM inbound_numbers WHERE connector_id = ? AND number = ?",
  );
  const anywhere = db.prepare<{ account_id: string }>(
    "SELECT account_id FROM inbound_numbers WHERE number = ? AND connector_id IS NULL",
  );
  const senders = db.prepare<{ first: string | null; last: string | null }>(
    "SELECT min(account_id) AS first, max(account_id) AS last FROM senders WHERE sender_id IN (?, ?)",
  );
  return ({ connectorId, to }) => {
    const mapped = ofConnector.get(connectorId, to) ?? anywhere.get(to);
    if (mapped) return mapped.account_id;
    // A sender that several accounts have says nothing of whom an answer is for.
    const owners = senders.get(to, to.replace(/^\+/, ""));
    return owners?.first === owners?.last ? (owners?.first ?? undefined) : undefined;
  };
}

/** Ids carry the time. */
function select(db: Database, query: InboundQuery): readonly InboundRow[] {
  const { accountId, from, to, after, before, olderThan, limit } = query;
  const tests: (readonly [test: string, value: SqlValue | undefined])[] = [
    ["account_id IS ?", accountId],
    ["sender = ?", from],
    ["recipient = ?", to],
    ["id >= ?", after === undefined ? undefined : firstUuidAt(after)],
    ["id < ?", before === undefined ? undefined : firstUuidAt(before)],
    ["id < ?", olderThan],
  ];
  const given = tests.flatMap(([test, value]) => (value === undefined ? [] : [{ test, value }]));
  const where = given.map(({ test }) => test).join(" AND ");
  const sql = `SELECT * FROM inbound_messages WHERE ${where} ORDER BY id DESC LIMIT ?`;
  return db.prepare<InboundRow>(sql).all(...given.map(({ value }) => value), limit);
}
