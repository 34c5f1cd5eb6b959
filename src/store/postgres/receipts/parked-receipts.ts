import type { Receipt } from "../../../core/messages/outcome.ts";
import { isAboutIds, isAboutReference, keysOfIds, keysOfParked } from "../../receipts/parked-keys.ts";
import { MAX_PER_REFERENCE, type ParkedReceipts, type SentReference } from "../../receipts/receipt-state.ts";
import type { Session } from "../database/driver.ts";
import { insertParked } from "./insert-parked.ts";
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
  readonly references: readonly Pick<SentReference, "connectorId" | "reference">[];
}

/** The caller has locked the names of keys and references. */
export async function loadParked(
  session: Session,
  { keys, references }: ParkedQuestions,
): Promise<LoadedParked> {
  const isAsked = keys.length + references.length > 0;
  const found = isAsked ? await session.query<ParkedRow>(FIND, columnsOf(keys, references)) : [];
  const rows = await lockFound(session, await withOtherRows(session, found));
  const { state, parked, taken } = createState(rows);
  return {
    state,
    receipts: parked.map(({ receipt }) => receipt),
    async write() {
      const gone = parked.flatMap((each) => (taken.has(each) ? each.ids : []));
      if (gone.length > 0) await session.query("DELETE FROM parked_receipts WHERE id = ANY($1)", [gone]);
      const fresh = parked.filter((each) => each.ids.length === 0 && !taken.has(each));
      if (fresh.length > 0) await insertParked(session, fresh);
    },
  };
}

interface ParkedRow {
  readonly id: number;
  readonly id_key: string;
  readonly receipt: string;
}

interface Parked {
  /** Ids of its rows, one for each key; empty: it is not written yet. */
  readonly ids: readonly number[];
  readonly keys: readonly string[];
  readonly receipt: Receipt;
}

/** `id + 0`: see `insertParked`. */
const FIND = `SELECT p.id, p.id_key, p.receipt FROM unnest($1::text[], $2::text[]) AS t (connector_id, id_key), LATERAL (
    SELECT * FROM parked_receipts p WHERE p.connector_id = t.connector_id AND p.id_key = t.id_key OFFSET 0
  ) AS p
  UNION
  SELECT p.id, p.id_key, p.receipt FROM unnest($3::text[], $4::bigint[]) AS t (connector_id, reference), LATERAL (
    SELECT * FROM parked_receipts p
    WHERE p.reference = t.reference AND p.connector_id = coalesce(t.connector_id, p.connector_id)
    ORDER BY p.id + 0 LIMIT ${MAX_PER_REFERENCE}
  ) AS p ORDER BY id`;

/** Adds the rows that these receipts have under their other ids: all rows of a receipt are locked and deleted together. */
async function withOtherRows(session: Session, found: readonly ParkedRow[]): Promise<readonly ParkedRow[]> {
  const rows = found.flatMap(({ receipt: text }) => {
    const receipt = JSON.parse(text) as Receipt;
    if (receipt.otherId === undefined) return [];
    return keysOfParked(receipt).map((key) => ({ connectorId: receipt.connectorId, key, text }));
  });
  if (rows.length === 0) return found;
  const others = await session.query<ParkedRow>(FIND_SAME, [
    rows.map(({ connectorId }) => connectorId),
    rows.map(({ key }) => key),
    rows.map(({ text }) => text),
  ]);
  const byId = new Map([...found, ...others].map((row) => [row.id, row]));
  return [...byId.values()].sort((one, other) => one.id - other.id);
}

const FIND_SAME = `SELECT p.id, p.id_key, p.receipt
  FROM unnest($1::text[], $2::text[], $3::text[]) AS t (connector_id, id_key, receipt), LATERAL (
    SELECT * FROM parked_receipts p WHERE p.connector_id = t.connector_id AND p.id_key = t.id_key OFFSET 0
  ) AS p WHERE p.receipt = t.receipt`;

/** Locks the rows, and returns those that are still there: another settlement may have had the same id, and taken them. */
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
    for (const key of each.keys) {
      const same = ofKey.get(key);
      if (same) same.push(each);
      else ofKey.set(key, [each]);
    }
  };
  const take = (some: readonly Parked[], isMeant: (receipt: Receipt) => boolean): Receipt[] => {
    const meant = some.filter((each) => !taken.has(each) && isMeant(each.receipt));
    for (const each of meant) taken.add(each);
    return meant.map(({ receipt }) => receipt);
  };
  const found = new Map(toParked(rows).map((each) => [each.receipt, each]));
  for (const each of found.values()) add(each);

  const state: ParkedReceipts = {
    park(receipt) {
      // A receipt that is parked again keeps its rows: a settlement that waits for these would not find new ones.
      const back = found.get(receipt);
      if (back) taken.delete(back);
      else add({ ids: [], keys: keysOfParked(receipt), receipt });
    },
    takeByIds(part) {
      const isAbout = isAboutIds(part);
      const isMeant = (receipt: Receipt) => receipt.connectorId === part.connectorId && isAbout(receipt);
      return keysOfIds(part.ids).flatMap((key) => take(ofKey.get(key) ?? [], isMeant));
    },
    takeByReference(sent) {
      const { connectorId, reference } = sent;
      const isAbout = isAboutReference(sent);
      const isMeant = (receipt: Receipt) =>
        receipt.reference === reference && receipt.connectorId === (connectorId ?? receipt.connectorId);
      return take(parked, (receipt) => isMeant(receipt) && isAbout(receipt));
    },
  };
  return { state, parked, taken };
}

/** Joins the two rows of one receipt. A receipt that came twice stays two. */
function toParked(rows: readonly ParkedRow[]): readonly Parked[] {
  const parked: (Parked & { readonly ids: number[]; readonly keys: string[] })[] = [];
  const byText = new Map<string, typeof parked>();
  for (const { id, id_key: key, receipt: text } of rows) {
    const same = byText.get(text) ?? [];
    const first = same.find((each) => !each.keys.includes(key));
    if (first) {
      first.ids.push(id);
      first.keys.push(key);
      continue;
    }
    const each = { ids: [id], keys: [key], receipt: JSON.parse(text) as Receipt };
    parked.push(each);
    byText.set(text, [...same, each]);
  }
  return parked;
}
