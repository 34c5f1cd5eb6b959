import type { InboundQuery } from "../../../core/inbound/inbound.ts";
import { senderIdsOf } from "../../../core/inbound/inbound-address.ts";
import { firstUuidAt } from "../../../core/uuid.ts";
import { toReceivedEntry, toReceivedEvent } from "../../../core/webhooks/received-event.ts";
import { hostOf } from "../../../core/webhooks/webhook-outbox.ts";
import { createInboundParts, type InboundParts, type WholeMessage } from "../../inbound/inbound-parts.ts";
import {
  INBOUND_COLUMNS,
  type InboundRow,
  toInboundMessage,
  toInboundRow,
} from "../../inbound/inbound-rows.ts";
import { type InboundState, keepInbound, takeInbound } from "../../inbound/take-inbound.ts";
import { MAX_COUNTED } from "../../max-counted.ts";
import type { InboundStore } from "../../store.ts";
import type { Database } from "../database/database.ts";
import type { SqlValue } from "../database/driver.ts";
import type { EventLog } from "../events/event-log.ts";
import type { AccountCache } from "../records/account-cache.ts";
import type { OptOuts } from "../suppressions/opt-outs.ts";
import type { WebhookLog } from "../webhooks/webhook-log.ts";
import { createDropUnassigned } from "./drop-unassigned.ts";
import { createEndRepeats } from "./end-repeats.ts";
import { createPartTable } from "./part-table.ts";

export interface InboundStoreParts {
  readonly accounts: AccountCache;
  readonly optOuts: OptOuts;
  readonly events: EventLog;
  readonly webhooks: WebhookLog;
}

/** `Store.inbound`. */
export function createInbound(db: Database, parts: InboundStoreParts): InboundStore {
  const waiting = createInboundParts(createPartTable(db));
  const state = createInboundState(db, waiting, parts);
  const unassigned = db.prepare<{ count: number }>(
    `SELECT count(*) AS count FROM (SELECT 1 FROM inbound_messages WHERE account_id IS NULL LIMIT ${MAX_COUNTED})`,
  );
  return {
    receive: (pieces) => db.write(() => pieces.map((piece) => takeInbound(state, piece)), pieces.length * 3),
    endRepeats: createEndRepeats(db),
    list: (query) => db.read(() => select(db, query).map(toInboundMessage)),
    countUnassigned: () => db.read(() => unassigned.get()?.count ?? 0),
    dropUnassigned: createDropUnassigned(db),
    storeIncomplete: (before, limit) =>
      db.write(() => {
        let rows = 0;
        while (rows < limit) {
          const over = waiting.expire(before);
          if (!over) break;
          if (over.message) keepInbound(state, over.message);
          rows += over.rows;
        }
        return rows;
      }, limit),
  };
}

function createInboundState(
  db: Database,
  waiting: InboundParts,
  { accounts, optOuts, events, webhooks }: InboundStoreParts,
): InboundState {
  const insert = db.prepare(INSERT_INBOUND);
  const same = db.prepare<{ is_before_start: number }>(NEWEST_SAME);
  return {
    parts: waiting,
    optOuts,
    repeated({ connectorId, key, sameSince }) {
      const found = same.get(connectorId, key, sameSince);
      return found && { isBeforeStart: found.is_before_start === 1 };
    },
    ownerOf: createOwners(db),
    accountOf: accounts.byId,
    insert: (message, more) => void insert.run(...toInboundRow(message, more)),
    tell(message, { number: account }, url) {
      const { id: messageId } = message;
      events.addOther(account, toReceivedEvent(message));
      if (url !== undefined)
        webhooks.add({ messageId, account, host: hostOf(url) }, [toReceivedEntry(message)]);
    },
  };
}

/** Of several of one millisecond the index gives the one that was stored last. */
const NEWEST_SAME = `SELECT EXISTS (SELECT 1 FROM inbound_messages s WHERE s.account_id = m.account_id
      AND s.sender = m.sender AND s.recipient = m.recipient AND s.id > m.id AND s.keyword = 'start') AS is_before_start
  FROM inbound_messages m WHERE connector_id = ? AND provider_key = ? AND received_at >= ?
  ORDER BY received_at DESC LIMIT 1`;

const INSERT_INBOUND = `INSERT INTO inbound_messages (${INBOUND_COLUMNS})
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`;

/** Finds the account that a number or short code belongs to. */
export function createOwners(
  db: Database,
): (message: Pick<WholeMessage, "connectorId" | "to">) => string | undefined {
  const ofConnector = db.prepare<{ account_id: string }>(
    "SELECT account_id FROM inbound_numbers WHERE connector_id = ? AND number = ?",
  );
  const anywhere = db.prepare<{ account_id: string }>(
    "SELECT account_id FROM inbound_numbers WHERE number = ? AND connector_id IS NULL",
  );
  const senders = db.prepare<{ first: string | null; last: string | null }>(
    "SELECT min(account_id) AS first, max(account_id) AS last FROM senders WHERE sender_id IN (SELECT value FROM json_each(?))",
  );
  return ({ connectorId, to }) => {
    const mapped = ofConnector.get(connectorId, to) ?? anywhere.get(to);
    if (mapped) return mapped.account_id;
    // A sender id that several accounts have does not tell which of them a message is for.
    const owners = senders.get(JSON.stringify(senderIdsOf(to)));
    return owners?.first === owners?.last ? (owners?.first ?? undefined) : undefined;
  };
}

/** Selects by time as well, since ids carry it. */
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
