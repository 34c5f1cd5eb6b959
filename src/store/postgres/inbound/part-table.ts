import type { InboundPiece } from "../../../core/inbound/inbound.ts";
import {
  cameOver,
  groupOf,
  type InboundPartRow,
  MAX_WAITING_PARTS,
  type PartGroup,
  type PartTable,
} from "../../inbound/inbound-parts.ts";
import type { WaitingCount } from "../../inbound/waiting-count.ts";
import type { Session } from "../database/driver.ts";

/** The parts of some messages: read by one statement, changed in memory, written at the end. */
export interface LoadedParts {
  readonly table: PartTable;
  /** Where the parts came that were there: what is left of their message becomes one of the account that has the number there. */
  readonly places: readonly Pick<InboundPiece, "connectorId" | "to">[];
  write(): Promise<void>;
}

/** What is to be loaded. The caller has locked the groups' names. */
export interface PartsQuestion {
  /** A group may be named once for each part that has come. */
  readonly groups: readonly PartGroup[];
  /** When the last of the parts came that may be added; absent: none is. */
  readonly cameAt?: number;
}

export async function loadParts(
  session: Session,
  { groups: named, cameAt }: PartsQuestion,
  waitingCount: WaitingCount,
): Promise<LoadedParts> {
  // Each group once: the rows of a group that is named twice would be read and counted twice.
  const groups = [...new Map(named.map((group) => [nameOfGroup(group), group])).values()];
  const rows = groups.length === 0 ? [] : await session.query<InboundPartRow>(FIND, columnsOf(groups));
  const isAsked = groups.length > 0 && cameAt !== undefined;
  const waiting = isAsked ? await countWaiting(session, cameAt, waitingCount) : 0;
  const { table, changes } = createTable(rows, waiting);
  return {
    table,
    places: rows.map((row) => ({ connectorId: cameOver(row), to: row.recipient })),
    async write() {
      if (changes.removed.size > 0) await session.query(REMOVE, columnsOf([...changes.removed.values()]));
      const put = [...changes.groups.entries()].flatMap(([name, rows]) =>
        changes.written.has(name) ? rows : [],
      );
      if (put.length > 0) await session.query(PUT, rowColumns(put));
      waitingCount.changed(changes.ofWaiting());
    },
  };
}

/** The group's name, which also names its lock. It must never change, since processes of two versions may run side by side. */
export function nameOfGroup({ connectorId, from, to, reference, total }: PartGroup): string {
  return JSON.stringify([connectorId, from, to, reference, total]);
}

function createTable(found: readonly InboundPartRow[], waiting: number) {
  const groups = new Map<string, readonly InboundPartRow[]>(
    Map.groupBy(found, (row) => nameOfGroup(groupOf(row))),
  );
  const removed = new Map<string, PartGroup>();
  const written = new Set<string>();
  let change = 0;

  const ofGroup = (group: PartGroup) => groups.get(nameOfGroup(group)) ?? [];
  const write = (group: PartGroup, rows: readonly InboundPartRow[]) => {
    groups.set(nameOfGroup(group), rows);
    written.add(nameOfGroup(group));
  };
  const table: PartTable = {
    ofGroup,
    countWaiting: () => waiting + change,
    put(group, number, piece) {
      change++;
      const rows = [...ofGroup(group), toRow(group, number, piece)];
      write(
        group,
        rows.sort((one, other) => one.number - other.number),
      );
    },
    complete(group, messageId) {
      change -= ofGroup(group).length;
      write(
        group,
        ofGroup(group).map((row) => ({ ...row, message_id: messageId })),
      );
    },
    remove(group) {
      write(group, []);
      removed.set(nameOfGroup(group), group);
    },
    oldest(before) {
      const old = [...groups.values()].flat().filter((row) => row.received_at < before);
      return old.sort((one, other) => one.received_at - other.received_at)[0];
    },
  };
  return { table, changes: { groups, removed, written, ofWaiting: () => change } };
}

function toRow(group: PartGroup, number: number, piece: InboundPiece): InboundPartRow {
  return {
    connector_id: group.connectorId,
    sender: group.from,
    recipient: group.to,
    reference: group.reference,
    total: group.total,
    number,
    id: piece.id,
    provider_key: piece.key,
    // As JSON, which can hold half of a surrogate pair: a part may begin or end with one.
    text: JSON.stringify(piece.text),
    encoding: piece.encoding,
    received_at: piece.receivedAt,
    message_id: null,
    came_over: piece.connectorId,
  };
}

async function countWaiting(session: Session, now: number, waitingCount: WaitingCount): Promise<number> {
  const known = waitingCount.known(now);
  if (known !== undefined) return known;
  const [row] = await session.query<{ count: number }>(
    `SELECT count(*) AS count FROM
       (SELECT 1 FROM inbound_parts WHERE message_id IS NULL LIMIT ${MAX_WAITING_PARTS}) AS counted`,
  );
  waitingCount.counted(now, row?.count ?? 0);
  return row?.count ?? 0;
}

const GROUPS = `unnest($1::text[], $2::text[], $3::text[], $4::int[], $5::int[])
    AS g (connector_id, sender, recipient, reference, total)`;

const GROUP = "connector_id, sender, recipient, reference, total";

/** By a subquery for each group: parts only wait for moments, and if none did when statistics were taken, the planner would read all. */
const FIND = `SELECT p.* FROM ${GROUPS}, LATERAL (
    SELECT * FROM inbound_parts p WHERE p.connector_id = g.connector_id AND p.sender = g.sender AND p.recipient = g.recipient
      AND p.reference = g.reference AND p.total = g.total ORDER BY p.number
  ) AS p ORDER BY p.number`;

/** `IS TRUE`: as in `known-ids.ts`. */
const REMOVE = `WITH removed AS (SELECT * FROM ${GROUPS})
  DELETE FROM inbound_parts WHERE connector_id = ANY($1) AND sender = ANY($2)
    AND ((${GROUP}) IN (SELECT * FROM removed)) IS TRUE`;

const PUT = `INSERT INTO inbound_parts (connector_id, sender, recipient, reference, total, number, id, provider_key, text,
    encoding, received_at, message_id, came_over)
  SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::int[], $5::int[], $6::int[], $7::text[], $8::text[],
    $9::text[], $10::text[], $11::bigint[], $12::uuid[], $13::text[])
  ON CONFLICT (connector_id, sender, recipient, reference, total, number)
    DO UPDATE SET message_id = excluded.message_id`;

function columnsOf(groups: readonly PartGroup[]) {
  return [
    groups.map(({ connectorId }) => connectorId),
    groups.map(({ from }) => from),
    groups.map(({ to }) => to),
    groups.map(({ reference }) => reference),
    groups.map(({ total }) => total),
  ];
}

function rowColumns(rows: readonly InboundPartRow[]) {
  return [
    ...columnsOf(rows.map(groupOf)),
    rows.map((row) => row.number),
    rows.map((row) => row.id),
    rows.map((row) => row.provider_key),
    rows.map((row) => row.text),
    rows.map((row) => row.encoding),
    rows.map((row) => row.received_at),
    rows.map((row) => row.message_id),
    rows.map((row) => row.came_over),
  ];
}
