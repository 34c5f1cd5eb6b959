import type { PartRef } from "../../../core/messages/outcome.ts";
import { toIdRows } from "../../receipts/id-rows.ts";
import { overdueRowsOf } from "../../receipts/overdue-row.ts";
import {
  byMessageAndPart,
  type KnownId,
  type KnownIds,
  MAX_SHARED_IDS,
} from "../../receipts/receipt-state.ts";
import type { Transaction } from "../database/transactions.ts";
import { awaitInstead, type PartAwaitedInstead } from "./await-instead.ts";

/** A provider's id in the form in which ids are compared; see `foldId`. */
export interface IdKey {
  readonly connectorId: string;
  readonly key: string;
}

/** The ids that providers have given to parts: read by one statement, added to in memory, written by another. */
export interface LoadedIds {
  readonly state: KnownIds;
  /** Ids of the messages that have one of the keys. */
  readonly messageIds: readonly string[];
  write(): Promise<void>;
}

/** The caller has locked the names of the keys. `find` sees only these keys, and what is noted later. */
export async function loadKnownIds(session: Transaction, keys: readonly IdKey[]): Promise<LoadedIds> {
  const rows =
    keys.length === 0
      ? []
      : await session.query<IdRow>(FIND, [
          keys.map(({ connectorId }) => connectorId),
          keys.map(({ key }) => key),
        ]);
  const { state, noted, received, awaitedInstead } = createState(rows);
  return {
    state,
    messageIds: rows.map((row) => row.message_id),
    async write() {
      if (noted.length > 0) session.run(INSERT, columnsOf(noted));
      await awaitInstead(session, awaitedInstead);
      if (received.length > 0) {
        const rows = received.flatMap(({ messageId, part }) =>
          overdueRowsOf(part).map((row) => ({ messageId, row })),
        );
        session.run(RECEIVED, [rows.map(({ messageId }) => messageId), rows.map(({ row }) => row)]);
      }
    },
  };
}

interface IdRow {
  readonly connector_id: string;
  readonly id_key: string;
  readonly message_id: string;
  readonly part: number;
  readonly provider_id: string | null;
}

const FIND = `SELECT t.connector_id, t.id_key, p.message_id, p.part, p.provider_id
  FROM unnest($1::text[], $2::text[]) AS t (connector_id, id_key), LATERAL (
    SELECT * FROM provider_ids p WHERE p.connector_id = t.connector_id AND p.id_key = t.id_key
    ORDER BY p.message_id DESC, p.part DESC LIMIT ${MAX_SHARED_IDS}
  ) AS p`;

type NotedRow = ReturnType<typeof toIdRows>[number];

function createState(rows: readonly IdRow[]) {
  const known = new Map<string, KnownId[]>();
  const noted: NotedRow[] = [];
  const received: PartRef[] = [];
  const awaitedInstead: PartAwaitedInstead[] = [];
  const ofKey = (connectorId: string, key: string) => {
    const name = nameOfKey({ connectorId, key });
    const parts = known.get(name) ?? [];
    known.set(name, parts);
    return parts;
  };
  for (const row of rows) {
    const { message_id: messageId, part, provider_id: providerId, id_key: key } = row;
    ofKey(row.connector_id, key).push({ messageId, part, providerId: providerId ?? key });
  }
  const state: KnownIds = {
    note(ids) {
      for (const row of toIdRows(ids)) {
        const parts = ofKey(row.connectorId, row.key);
        if (parts.some((each) => isSamePart(each, row))) continue;
        parts.push({ messageId: row.messageId, part: row.part, providerId: row.providerId ?? row.key });
        noted.push(row);
      }
    },
    find: (connectorId, key) => ofKey(connectorId, key).sort(byMessageAndPart),
    received(part) {
      for (const row of noted) if (isSamePart(row, part)) row.awaitedSince = null;
      received.push(part);
    },
    awaitInstead: ({ messageId, part }, instead, at) =>
      void awaitedInstead.push({ messageId, part, ...instead, at }),
  };
  return { state, noted, received, awaitedInstead };
}

function isSamePart(one: PartRef, other: PartRef): boolean {
  return one.messageId === other.messageId && one.part === other.part;
}

/** The key's name, which also names its lock. */
export function nameOfKey({ connectorId, key }: IdKey): string {
  return `${connectorId} ${key}`;
}

function columnsOf(rows: readonly NotedRow[]) {
  return [
    rows.map(({ connectorId }) => connectorId),
    rows.map(({ key }) => key),
    rows.map(({ messageId }) => messageId),
    rows.map(({ part }) => part),
    rows.map(({ providerId }) => providerId),
    rows.map(({ awaitedSince }) => awaitedSince),
  ];
}

const INSERT = `INSERT INTO provider_ids (connector_id, id_key, message_id, part, provider_id, awaited_since)
  SELECT * FROM unnest($1::text[], $2::text[], $3::uuid[], $4::int[], $5::text[], $6::bigint[])
  ON CONFLICT DO NOTHING`;

/**
 * Marks parts as received in both tables. The list also has the numbers of second rows of overdue receipts (`overdueRowsOf`), which
 * no row of `provider_ids` has.
 *
 * Lists of messages rather than joins: without statistics of a table, the planner might compare every row with every part.
 * `coalesce` keeps it from using the index of awaited rows: its statistics may be from a time when there were none, and it
 * would scan all of them.
 */
const RECEIVED = `WITH told AS (SELECT * FROM unnest($1::uuid[], $2::int[]) AS t (message_id, part)), awaited AS (
    UPDATE provider_ids p SET awaited_since = NULL
    WHERE p.message_id = ANY($1) AND ${isTold("p")} AND coalesce(p.awaited_since, 0) <> 0
  )
  DELETE FROM overdue_receipts o WHERE o.message_id = ANY($1) AND ${isTold("o")}`;

/** `IS TRUE` keeps PostgreSQL 15 from making a join of it, which may begin with any row. */
function isTold(row: string): string {
  return `((${row}.message_id, ${row}.part) IN (SELECT * FROM told)) IS TRUE`;
}
