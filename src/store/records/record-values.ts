import type { Vault } from "../vault.ts";
import type { Column, RecordTable } from "./record-tables.ts";

export type Fields = Readonly<Record<string, unknown>>;

/** Converts a record's fields to and from the values of its row. */
export interface RecordValues {
  /** `undefined` and `null` become NULL, booleans 0 or 1, which both engines accept. */
  toSql(place: Place, value: unknown): string | number | null;
  /** Fields that are NULL are absent. */
  toRecord(table: RecordTable, row: Readonly<Record<string, unknown>>): Fields;
}

/** A field of one record. Sealed values can be opened only for the place they were sealed for. */
export interface Place {
  readonly table: RecordTable;
  readonly column: Column;
  readonly id: string;
}

export function createRecordValues(vault: Vault): RecordValues {
  return {
    toSql(place, value) {
      if (value === undefined || value === null) return null;
      switch (place.column.type) {
        case "json":
          return JSON.stringify(value);
        case "sealed":
          return vault.seal(JSON.stringify(value), placeName(place));
        case "boolean":
          return value ? 1 : 0;
        default:
          return value as string | number;
      }
    },
    toRecord(table, row) {
      const id = String(row.id);
      const fields = Object.entries(table.columns).flatMap(([field, column]) => {
        const value = row[column.name];
        if (value === null || value === undefined) return [];
        return [[field, fromSql(vault, { table, column, id }, value)] as const];
      });
      return Object.fromEntries(fields);
    },
  };
}

function fromSql(vault: Vault, place: Place, value: unknown): unknown {
  switch (place.column.type) {
    case "json":
      return JSON.parse(String(value));
    case "sealed":
      return JSON.parse(vault.open(String(value), placeName(place)));
    case "boolean":
      return value === 1 || value === true;
    default:
      return value;
  }
}

function placeName({ table, column, id }: Place): string {
  return `${table.table}/${column.name}/${id}`;
}
