import type { Receipt } from "../../../core/messages/outcome.ts";
import { keysOfParked, MAX_PARKED_PER_ID, SECOND_ROW } from "../../receipts/parked-keys.ts";
import type { Session } from "../database/driver.ts";

/** Writes receipts that are parked, a row for each of their keys, and keeps the newest rows of each key. */
export async function insertParked(
  session: Session,
  parked: readonly { readonly keys: readonly string[]; readonly receipt: Receipt }[],
): Promise<void> {
  const rows = parked.flatMap(({ keys, receipt }) => {
    const { connectorId, reference = null, receivedAt } = receipt;
    const text = JSON.stringify(receipt);
    const toRow = (key: string, row: number) => ({ key, reference: row === 0 ? reference : SECOND_ROW });
    return keys.map((key, row) => ({ ...toRow(key, row), connectorId, receivedAt, text }));
  });
  const connectors = rows.map(({ connectorId }) => connectorId);
  const keys = rows.map(({ key }) => key);
  await session.query(INSERT, [
    connectors,
    keys,
    rows.map(({ reference }) => reference),
    rows.map(({ receivedAt }) => receivedAt),
    rows.map(({ text }) => text),
  ]);
  await makeFirst(session, await session.query(KEEP_NEWEST, [connectors, keys]));
}

/** In the order in which the receipts came, so that their ids rise in it. */
const INSERT = `INSERT INTO parked_receipts (connector_id, id_key, reference, at, receipt)
  SELECT connector_id, id_key, reference, at, receipt
  FROM unnest($1::text[], $2::text[], $3::bigint[], $4::bigint[], $5::text[]) WITH ORDINALITY
    AS t (connector_id, id_key, reference, at, receipt, place) ORDER BY place`;

/**
 * Skips rows that a settlement has locked because it knows the receipt's other id.
 *
 * Most receipts are parked for moments. So the table may have been empty whenever statistics were taken. Then the planner finds every plan
 * equally good, even one that reads the table for each pair of its rows. Lists of ids, and an order that the primary key does not have
 * (`id + 0`), leave it no choice.
 */
const KEEP_NEWEST = `DELETE FROM parked_receipts WHERE id = ANY(ARRAY(
    SELECT id FROM parked_receipts WHERE id = ANY(ARRAY(
      SELECT old.id FROM (SELECT DISTINCT * FROM unnest($1::text[], $2::text[])) AS t (connector_id, id_key), LATERAL (
        SELECT p.id FROM parked_receipts p WHERE p.connector_id = t.connector_id AND p.id_key = t.id_key
        ORDER BY p.id + 0 DESC OFFSET ${MAX_PARKED_PER_ID}
      ) AS old
    )) FOR UPDATE SKIP LOCKED
  )) RETURNING id_key, reference, receipt`;

/** If the first row of a receipt is gone, the row that it has under its other id becomes the first. */
async function makeFirst(
  session: Session,
  gone: readonly { readonly id_key: string; readonly reference: number | null; readonly receipt: string }[],
): Promise<void> {
  const rows = gone.flatMap(({ id_key: key, reference, receipt: text }) => {
    const receipt = JSON.parse(text) as Receipt;
    const [first, other] = keysOfParked(receipt);
    const left = key === first ? 1 : reference === SECOND_ROW ? -1 : 0;
    return other === undefined || left === 0 ? [] : [{ ...receipt, other, text, left }];
  });
  if (rows.length === 0) return;
  await session.query(MAKE_FIRST, [
    rows.map(({ connectorId }) => connectorId),
    rows.map(({ other }) => other),
    rows.map(({ reference = null }) => reference),
    rows.map(({ text }) => text),
    rows.map(({ left }) => left),
  ]);
}

/** `coalesce` keeps the planner from finding the row by its reference: very many rows may have the same. */
const MAKE_FIRST = `WITH other AS MATERIALIZED (
    SELECT same.id, t.reference FROM (
      SELECT connector_id, id_key, reference, receipt, sum(left_over) AS left_over
      FROM unnest($1::text[], $2::text[], $3::bigint[], $4::text[], $5::int[])
        AS t (connector_id, id_key, reference, receipt, left_over)
      GROUP BY connector_id, id_key, reference, receipt HAVING sum(left_over) > 0
    ) AS t, LATERAL (
      SELECT p.id FROM parked_receipts p WHERE p.connector_id = t.connector_id AND p.id_key = t.id_key
        AND p.receipt = t.receipt AND coalesce(p.reference, 0) = ${SECOND_ROW}
      ORDER BY p.id + 0 LIMIT t.left_over FOR UPDATE SKIP LOCKED
    ) AS same
  )
  UPDATE parked_receipts p SET reference = (SELECT other.reference FROM other WHERE other.id = p.id)
  WHERE p.id = ANY(ARRAY(SELECT other.id FROM other))`;
