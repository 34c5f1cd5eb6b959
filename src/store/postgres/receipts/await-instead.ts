import type { AwaitedInstead } from "../../../core/messages/copies.ts";
import type { PartRef } from "../../../core/messages/outcome.ts";
import { partOfOverdue } from "../../receipts/overdue-row.ts";
import type { Session } from "../database/driver.ts";

export interface PartAwaitedInstead extends PartRef, AwaitedInstead {
  readonly at: number;
}

/**
 * Hands questions about overdue receipts to other connectors, due at once. If one is to be asked already, only drops the question
 * to the first one. Goes through `parts` in order, since one may hand on what another has handed over.
 */
export async function awaitInstead(session: Session, parts: readonly PartAwaitedInstead[]): Promise<void> {
  if (parts.length === 0) return;
  const ids = [...new Set(parts.map(({ messageId }) => messageId))];
  const rows = (await session.query<OverdueRow>(FIND, [ids])).map(
    (row): MovedRow => ({ ...row, from: row.connector_id }),
  );
  for (const each of parts) move(rows, each);
  const gone = rows.filter(({ isGone }) => isGone);
  if (gone.length > 0) await session.query(DROP, columnsOf(gone));
  const moved = rows.filter(({ isGone, at }) => !isGone && at !== undefined);
  if (moved.length === 0) return;
  const to = moved.map((row) => row.connector_id);
  await session.query(MOVE, [...columnsOf(moved), to, moved.map(({ at }) => at ?? 0)]);
}

interface OverdueRow {
  readonly message_id: string;
  readonly part: number;
  connector_id: string;
}

interface MovedRow extends OverdueRow {
  readonly from: string;
  at?: number;
  isGone?: boolean;
}

function move(rows: readonly MovedRow[], { messageId, part, from, to, at }: PartAwaitedInstead): void {
  const ofPart = rows.filter(
    (row) => row.message_id === messageId && partOfOverdue(row.part) === part && !row.isGone,
  );
  const row = ofPart.find((each) => each.connector_id === from);
  if (!row) return;
  if (ofPart.some((each) => each.connector_id === to)) row.isGone = true;
  else Object.assign(row, { connector_id: to, at });
}

function columnsOf(rows: readonly MovedRow[]) {
  return [
    rows.map(({ message_id: messageId }) => messageId),
    rows.map(({ part }) => part),
    rows.map(({ from }) => from),
  ];
}

const FIND = "SELECT message_id, part, connector_id FROM overdue_receipts WHERE message_id = ANY($1)";

/** `IS TRUE`: the row is found by its message, not by its connector, which may have very many. */
const IS_ROW =
  "o.message_id = ANY(ARRAY[t.message_id]) AND o.part = t.part AND (o.connector_id = t.failed) IS TRUE";

const DROP = `DELETE FROM overdue_receipts o
  USING unnest($1::uuid[], $2::int[], $3::text[]) AS t (message_id, part, failed) WHERE ${IS_ROW}`;

const MOVE = `UPDATE overdue_receipts o SET connector_id = t.connector_id, asked = 0, ask_at = t.ask_at
  FROM unnest($1::uuid[], $2::int[], $3::text[], $4::text[], $5::bigint[])
    AS t (message_id, part, failed, connector_id, ask_at) WHERE ${IS_ROW}`;
