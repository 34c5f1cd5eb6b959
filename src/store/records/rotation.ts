/** What both engines share for a rotation of the master key: every secret is sealed again under the new one. */
import { openFact, type SealedName, sealFact } from "../meta.ts";
import type { Vault } from "../vault.ts";
import { withEarlierKey } from "./earlier-keys.ts";
import { RECORD_TABLES, type RecordTable } from "./record-tables.ts";
import { createRecordValues } from "./record-values.ts";

/** The vaults of the present master key (`from`) and of the new one (`to`). */
export interface Vaults {
  readonly from: Vault;
  readonly to: Vault;
}

export interface VaultRotation extends Vaults {
  /** Put first in `Store.earlierKeys`; absent: they are all dropped. */
  readonly earlierKey?: string;
  /** For tests: called when everything is sealed again and nothing is committed yet. */
  readonly beforeCommit?: () => void;
}

/** The tables that have sealed columns. */
export const SEALED_TABLES: readonly RecordTable[] = Object.values<RecordTable>(RECORD_TABLES).filter(
  (table) => sealedFields(table).length > 0,
);

/** The sealed columns of a row, and their values under the new key. */
export function resealed(
  table: RecordTable,
  row: Readonly<Record<string, unknown>>,
  { from, to }: Vaults,
): readonly (readonly [column: string, value: string | number | null])[] {
  const record = createRecordValues(from).toRecord(table, row);
  const { toSql } = createRecordValues(to);
  return sealedFields(table).map(([field, column]) => {
    return [column.name, toSql({ table, column, id: String(row.id) }, record[field])];
  });
}

/** A fact's value under the new key; `undefined`: it is to be removed. */
export function resealedFact(
  name: SealedName,
  sealed: string | undefined,
  { earlierKey, from, to }: VaultRotation,
): string | undefined {
  if (name === "earlier_keys") return withEarlierKey(earlierKey, sealed, { from, to });
  return sealed === undefined ? undefined : sealFact(to, name, openFact(from, name, sealed));
}

function sealedFields({ columns }: RecordTable) {
  return Object.entries(columns).filter(([, { type }]) => type === "sealed");
}
