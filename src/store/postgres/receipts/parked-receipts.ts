import type { Receipt } from "../../../core/messages/outcome.ts";
import { foldId } from "../../../core/receipts/provider-id.ts";
import { isSameNumber } from "../../../core/receipts/same-number.ts";
import { MAX_COUNTED } from "../../max-counted.ts";
import {
  isAboutIds,
  keysOfIds,
  MAX_PARKED_PER_ID,
  MAX_PER_REFERENCE,
  type ParkedReceipts,
  type SentReference,
} from "../../receipts/receipt-state.ts";
import type { DroppedReceipts, ReceiptStore } from "../../store.ts";
import type { Session } from "../database/driver.ts";
import type { IdKey } from "./known-ids.ts";

/** Receipts that match nothing yet: read by one statement, parked and taken in memory, written at the end. */
export interface LoadedParked {
  readonly state: ParkedReceipts;
  /** All that `state` may take. */
  readonly receipts: readonly Receipt[];
  write(): Promise<void>;
}

export interface ParkedQuestions {
  readonly keys: readonly IdKey[];
  readonly references: readonly Omit<SentReference, "recipient">[];
}

/** The caller has locked the names of keys and references. */
export async function loadParked(
  session: Session,
  { keys, references }: ParkedQuestions,
): Promise<LoadedParked> {
  const isAsked = keys.length + references.length > 0;
  const found = isAsked ? await session.query<ParkedRow>(FIND, columnsOf(keys, references)) : [];
  const rows = await lockFound(session, found);
  const { state, parked, taken } = createState(rows);
  return {
    state,
    receipts: parked.map(({ receipt }) => receipt),
    async write() {
      const gone = parked.flatMap((each) => (taken.has(each) ? (each.id ?? []) : []));
      if (gone.length > 0) await session.query("DELETE FROM parked_receipts WHERE id = ANY($1)", [gone]);
      const fresh = parked.filter((each) => each.id === undefined && !taken.has(each));
      if (fresh.length > 0) await insert(session, fresh);
    },
  };
}

interface ParkedRow {
  readonly id: number;
  readonly id_key: string;
  readonly receipt: string;
}

interface Parked {
  /** Absent: it is not written yet. */
  readonly id?: number;
  readonly key: string;
  readonly receipt: Receipt;
}

const FIND = `SELECT p.id, p.id_key, p.receipt FROM unnest($1::text[], $2::text[]) AS t (connector_id, id_key), LATERAL (
    SELECT * FROM parked_receipts p WHERE p.connector_id = t.connector_id AND p.id_key = t.id_key OFFSET 0
  ) AS p
  UNION
  SELECT p.id, p.id_key, p.receipt FROM unnest($3::text[], $4::bigint[]) AS t (connector_id, reference), LATERAL (
    SELECT * FROM parked_receipts p
    WHERE p.reference = t.reference AND p.connector_id = coalesce(t.connector_id, p.connector_id)
    ORDER BY p.id LIMIT ${MAX_PER_REFERENCE}
  ) AS p ORDER BY id`;

/** Those that are still there: another settlement may have had the same id, and taken them. */
async function lockFound(session: Session, found: readonly ParkedRow[]): Promise<readonly ParkedRow[]> {
  if (found.length === 0) return found;
  const locked = await session.query<{ id: number }>(LOCK, [found.map(({ id }) => id)]);
  const ours = new Set(locked.map(({ id }) => id));
  return found.filter(({ id }) => ours.has(id));
}

const LOCK = "SELECT id FROM parked_receipts WHERE id = ANY($1) ORDER BY id FOR UPDATE";

function columnsOf(keys: ParkedQuestions["keys"], references: ParkedQuestions["references"]) {
  return [
    keys.map(({ connectorId }) => connectorId),
    keys.map(({ key }) => key),
    references.map(({ connectorId }) => connectorId ?? null),
    references.map(({ reference }) => reference),
  ];
}

function createState(rows: readonly ParkedRow[]) {
  const parked: Parked[] = [];
  const ofKey = new Map<string, Parked[]>();
  const taken = new Set<Parked>();
  const add = (each: Parked) => {
    parked.push(each);
    const same = ofKey.get(each.key);
    if (same) same.push(each);
    else ofKey.set(each.key, [each]);
  };
  const take = (some: readonly Parked[], isMeant: (receipt: Receipt) => boolean): Receipt[] => {
    const meant = some.filter((each) => !taken.has(each) && isMeant(each.receipt));
    for (const each of meant) taken.add(each);
    return meant.map(({ receipt }) => receipt);
  };
  for (const row of rows) add(toParked(row));

  const state: ParkedReceipts = {
    park: (receipt) => add({ key: foldId(receipt.providerMessageId), receipt }),
    takeByIds(part) {
      const isAbout = isAboutIds(part);
      const isMeant = (receipt: Receipt) => receipt.connectorId === part.connectorId && isAbout(receipt);
      return keysOfIds(part.ids).flatMap((key) => take(ofKey.get(key) ?? [], isMeant));
    },
    takeByReference: ({ connectorId, reference, recipient }) =>
      take(
        parked,
        (receipt) =>
          receipt.reference === reference &&
          receipt.connectorId === (connectorId ?? receipt.connectorId) &&
          isSameNumber(recipient, receipt.recipient) === true,
      ),
  };
  return { state, parked, taken };
}

function toParked({ id, id_key: key, receipt }: ParkedRow): Parked {
  return { id, key, receipt: JSON.parse(receipt) as Receipt };
}

async function insert(session: Session, parked: readonly Parked[]): Promise<void> {
  const connectors = parked.map(({ receipt }) => receipt.connectorId);
  const keys = parked.map(({ key }) => key);
  await session.query(INSERT, [
    connectors,
    keys,
    parked.map(({ receipt }) => receipt.reference ?? null),
    parked.map(({ receipt }) => receipt.receivedAt),
    parked.map(({ receipt }) => JSON.stringify(receipt)),
  ]);
  await session.query(KEEP_NEWEST, [connectors, keys]);
}

/** Numbered in the order in which they came. */
const INSERT = `INSERT INTO parked_receipts (connector_id, id_key, reference, at, receipt)
  SELECT connector_id, id_key, reference, at, receipt
  FROM unnest($1::text[], $2::text[], $3::bigint[], $4::bigint[], $5::text[]) WITH ORDINALITY
    AS t (connector_id, id_key, reference, at, receipt, place) ORDER BY place`;

const KEEP_NEWEST = `DELETE FROM parked_receipts WHERE id IN (
    SELECT old.id FROM (SELECT DISTINCT * FROM unnest($1::text[], $2::text[])) AS t (connector_id, id_key), LATERAL (
      SELECT p.id FROM parked_receipts p WHERE p.connector_id = t.connector_id AND p.id_key = t.id_key
      ORDER BY p.id DESC OFFSET ${MAX_PARKED_PER_ID}
    ) AS old)`;

/** `ReceiptStore.countParked`. */
export async function countParked(session: Session): Promise<number> {
  const [row] = await session.query<{ count: number }>(COUNT);
  return row?.count ?? 0;
}

const COUNT = `SELECT count(*) AS count FROM (SELECT 1 FROM parked_receipts LIMIT ${MAX_COUNTED}) AS counted`;

/** Deletes parked receipts from before `before`, among the `limit` with the lowest ids; ids rise with time, more or less. */
export async function pruneParked(session: Session, before: number, limit: number): Promise<number> {
  const rows = await session.query(PRUNE, [before, limit]);
  return rows.length;
}

const PRUNE = `DELETE FROM parked_receipts WHERE id IN (
    SELECT id FROM (SELECT id, at FROM parked_receipts ORDER BY id LIMIT $2) AS oldest WHERE at < $1
  ) RETURNING 1`;

/** `ReceiptStore.dropParked`. Receipts that a settlement is just taking are left to it. */
export async function dropParked(
  session: Session,
  { most, limit }: Parameters<ReceiptStore["dropParked"]>[0],
): Promise<readonly DroppedReceipts[]> {
  const found = await session.query<{ connector_id: string; receipts: number }>(TOO_MANY, [most, limit]);
  const dropped: DroppedReceipts[] = [];
  for (const { connector_id: connectorId, receipts } of found) {
    const rows = await session.query(DROP, [connectorId, receipts]);
    if (rows.length > 0) dropped.push({ connectorId, receipts: rows.length });
  }
  return dropped;
}

/** Steps from connector to connector by the index, and counts each only as far as it matters. */
const TOO_MANY = `WITH RECURSIVE connectors AS (
    (SELECT connector_id FROM parked_receipts ORDER BY connector_id LIMIT 1)
    UNION ALL
    SELECT (SELECT p.connector_id FROM parked_receipts p WHERE p.connector_id > c.connector_id
      ORDER BY p.connector_id LIMIT 1)
    FROM connectors c WHERE c.connector_id IS NOT NULL
  )
  SELECT c.connector_id, counted.receipts - $1 AS receipts FROM connectors c, LATERAL (
    SELECT count(*) AS receipts FROM (
      SELECT 1 FROM parked_receipts p WHERE p.connector_id = c.connector_id LIMIT $1::bigint + $2::bigint
    ) AS first_ones
  ) AS counted WHERE counted.receipts > $1 ORDER BY c.connector_id`;

const DROP = `DELETE FROM parked_receipts WHERE id IN (
    SELECT id FROM parked_receipts WHERE connector_id = $1 ORDER BY id LIMIT $2 FOR UPDATE SKIP LOCKED
  ) RETURNING 1`;
