import type { Receipt } from "../../../core/messages/outcome.ts";
import { foldId } from "../../../core/receipts/provider-id.ts";
import { keysOfParked } from "../../receipts/parked-keys.ts";
import { isToldFailure, type ToldFailure } from "../../receipts/told-failure.ts";
import type { Transaction } from "../database/transactions.ts";

/** Deletes parked failures that have been told. Skips those that another transaction has locked, since messages are locked already. */
export async function dropTold(session: Transaction, told: readonly ToldFailure[]): Promise<void> {
  if (told.length === 0) return;
  const found = await session.query<FoundRow>(FIND, [
    told.map(({ connectorId }) => connectorId),
    told.map(({ messageId }) => foldId(messageId)),
  ]);
  const rows = found.flatMap(({ index, receipt: text }) => {
    const failure = told[index - 1];
    const receipt = JSON.parse(text) as Receipt;
    if (!failure || !isToldFailure(receipt, failure)) return [];
    return keysOfParked(receipt).map((key) => ({ connectorId: failure.connectorId, key, text }));
  });
  if (rows.length === 0) return;
  session.run(DELETE, [
    rows.map(({ connectorId }) => connectorId),
    rows.map(({ key }) => key),
    rows.map(({ text }) => text),
  ]);
}

interface FoundRow {
  /** From 1. */
  readonly index: number;
  readonly receipt: string;
}

/** `OFFSET 0`: see `insertParked`. */
const FIND = `SELECT t.index, p.receipt FROM unnest($1::text[], $2::text[]) WITH ORDINALITY AS t (connector_id, id_key, index), LATERAL (
    SELECT * FROM parked_receipts p WHERE p.connector_id = t.connector_id AND p.id_key = t.id_key OFFSET 0
  ) AS p`;

const DELETE = `DELETE FROM parked_receipts WHERE id = ANY(ARRAY(
    SELECT p.id FROM unnest($1::text[], $2::text[], $3::text[]) AS t (connector_id, id_key, receipt), LATERAL (
      SELECT p.id FROM parked_receipts p
      WHERE p.connector_id = t.connector_id AND p.id_key = t.id_key AND p.receipt = t.receipt
      ORDER BY p.id + 0 FOR UPDATE SKIP LOCKED
    ) AS p))`;
